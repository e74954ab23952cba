-- The newest revision, laid at once where there is no store yet; older stores go there by the scripts in versions/.
-- Written by `pytest tests/test_upgrade.py --force-golden`, which holds it equal to what they make.
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE forgotten (
	session_id TEXT NOT NULL, 
	forgotten_ms INTEGER NOT NULL, 
	PRIMARY KEY (session_id)
) WITHOUT ROWID;
CREATE TABLE models (
	model TEXT NOT NULL, 
	priced INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	asked_ms INTEGER NOT NULL, 
	PRIMARY KEY (model)
) WITHOUT ROWID;
CREATE TABLE prices (
	id INTEGER NOT NULL, 
	model TEXT NOT NULL, 
	speed TEXT, 
	from_day TEXT, 
	above_tokens INTEGER DEFAULT '0' NOT NULL, 
	input_usd FLOAT, 
	cache_read_usd FLOAT, 
	cache_write_5m_usd FLOAT, 
	cache_write_1h_usd FLOAT, 
	output_usd FLOAT, 
	web_search_usd FLOAT, 
	source TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE UNIQUE INDEX prices_by_model ON prices (model, speed, from_day, above_tokens);
CREATE TABLE projects (
	id INTEGER NOT NULL, 
	path TEXT NOT NULL, 
	name TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE UNIQUE INDEX projects_by_path ON projects (path);
CREATE TABLE runs (
	id INTEGER NOT NULL, 
	started_ms INTEGER NOT NULL, 
	duration_ms INTEGER, 
	kind TEXT, 
	version TEXT, 
	files INTEGER, 
	changed INTEGER, 
	gone INTEGER, 
	bytes_read INTEGER, 
	records INTEGER, 
	problems INTEGER, 
	PRIMARY KEY (id)
);
CREATE TABLE store_facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
) WITHOUT ROWID;
CREATE TABLE surroundings (
	id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	path TEXT NOT NULL, 
	project_path TEXT, 
	name TEXT, 
	content_hash TEXT NOT NULL, 
	mtime_ns INTEGER NOT NULL, 
	bytes INTEGER NOT NULL, 
	chars INTEGER, 
	tokens INTEGER, 
	detail TEXT, 
	first_seen_ms INTEGER NOT NULL, 
	last_seen_ms INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX surroundings_by_path ON surroundings (path, content_hash);
CREATE TABLE sessions (
	id INTEGER NOT NULL, 
	session_id TEXT NOT NULL, 
	project_id INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(project_id) REFERENCES projects (id)
);
CREATE UNIQUE INDEX sessions_by_session_id ON sessions (session_id);
CREATE TABLE context_reports (
	id INTEGER NOT NULL, 
	session_id INTEGER, 
	time_ms INTEGER, 
	model TEXT, 
	version TEXT, 
	used_tokens INTEGER, 
	window_tokens INTEGER, 
	rows TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(session_id) REFERENCES sessions (id)
);
CREATE TABLE transcripts (
	id INTEGER NOT NULL, 
	root TEXT NOT NULL, 
	path TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	stem TEXT NOT NULL, 
	parent_session TEXT, 
	session_id INTEGER, 
	size INTEGER DEFAULT '-1' NOT NULL, 
	mtime_ns INTEGER DEFAULT '0' NOT NULL, 
	inode INTEGER DEFAULT '0' NOT NULL, 
	"offset" INTEGER DEFAULT '0' NOT NULL, 
	head_hash BLOB, 
	tail_hash BLOB, 
	parser INTEGER DEFAULT '0' NOT NULL, 
	gone INTEGER DEFAULT '0' NOT NULL, 
	superseded INTEGER DEFAULT '0' NOT NULL, 
	in_view INTEGER DEFAULT '1' NOT NULL, 
	records INTEGER DEFAULT '0' NOT NULL, 
	first_ms INTEGER, 
	last_ms INTEGER, 
	last_message_ms INTEGER, 
	first_cwd TEXT, 
	last_cwd TEXT, 
	version TEXT, 
	last_version TEXT, 
	git_branch TEXT, 
	entrypoint TEXT, 
	record_session TEXT, 
	agent_id TEXT, 
	agent_type TEXT, 
	agent_description TEXT, 
	parent_tool_use_id TEXT, 
	parent_agent_id TEXT, 
	meta_mtime_ns INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(session_id) REFERENCES sessions (id)
);
CREATE UNIQUE INDEX transcripts_by_path ON transcripts (path);
CREATE INDEX transcripts_by_session ON transcripts (session_id);
CREATE TABLE fold_states (
	transcript_id INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	PRIMARY KEY (transcript_id), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
);
CREATE TABLE meta_records (
	transcript_id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	record_id INTEGER NOT NULL, 
	value TEXT, 
	PRIMARY KEY (transcript_id, "key"), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
) WITHOUT ROWID;
CREATE TABLE problems (
	transcript_id INTEGER NOT NULL, 
	"offset" INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	length INTEGER NOT NULL, 
	PRIMARY KEY (transcript_id, "offset", reason), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
) WITHOUT ROWID;
CREATE TABLE threads (
	id INTEGER NOT NULL, 
	transcript_id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	agent_id TEXT, 
	parent_tool_use_id TEXT, 
	messages INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
);
CREATE INDEX threads_by_transcript ON threads (transcript_id);
CREATE TABLE api_calls (
	id INTEGER NOT NULL, 
	response_id INTEGER NOT NULL, 
	transcript_id INTEGER NOT NULL, 
	thread_id INTEGER NOT NULL, 
	model TEXT, 
	time_ms INTEGER, 
	input_tokens INTEGER DEFAULT '0' NOT NULL, 
	cache_read_tokens INTEGER DEFAULT '0' NOT NULL, 
	cache_write_tokens INTEGER DEFAULT '0' NOT NULL, 
	cache_write_1h_tokens INTEGER DEFAULT '0' NOT NULL, 
	output_tokens INTEGER DEFAULT '0' NOT NULL, 
	thinking_tokens INTEGER, 
	web_searches INTEGER DEFAULT '0' NOT NULL, 
	context_tokens INTEGER DEFAULT '0' NOT NULL, 
	speed TEXT, 
	is_advisor INTEGER DEFAULT '0' NOT NULL, 
	retained INTEGER DEFAULT '0' NOT NULL, 
	price_id INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(price_id) REFERENCES prices (id), 
	FOREIGN KEY(thread_id) REFERENCES threads (id), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
);
CREATE INDEX api_calls_by_time ON api_calls (time_ms);
CREATE TABLE branches (
	thread_id INTEGER NOT NULL, 
	branch INTEGER NOT NULL, 
	parent_branch INTEGER NOT NULL, 
	fork_uuid BLOB, 
	first_record_id INTEGER NOT NULL, 
	PRIMARY KEY (thread_id, branch), 
	FOREIGN KEY(thread_id) REFERENCES threads (id)
) WITHOUT ROWID;
CREATE TABLE records (
	id INTEGER NOT NULL, 
	transcript_id INTEGER NOT NULL, 
	length INTEGER NOT NULL, 
	type TEXT, 
	subtype TEXT, 
	uuid BLOB, 
	parent_uuid BLOB, 
	time_ms INTEGER, 
	thread_id INTEGER NOT NULL, 
	branch INTEGER DEFAULT '0' NOT NULL, 
	epoch INTEGER DEFAULT '0' NOT NULL, 
	call_ordinal INTEGER DEFAULT '0' NOT NULL, 
	message INTEGER, 
	response_id INTEGER, 
	opens INTEGER DEFAULT '0' NOT NULL, 
	is_prompt INTEGER DEFAULT '0' NOT NULL, 
	is_summary INTEGER DEFAULT '0' NOT NULL, 
	is_meta INTEGER DEFAULT '0' NOT NULL, 
	is_copied INTEGER DEFAULT '0' NOT NULL, 
	is_duplicate INTEGER DEFAULT '0' NOT NULL, 
	origin TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(thread_id) REFERENCES threads (id), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
);
CREATE INDEX records_by_uuid ON records (transcript_id, uuid);
CREATE INDEX records_of_prompts ON records (thread_id) WHERE is_prompt = 1 or is_summary = 1;
CREATE INDEX records_opening ON records (transcript_id, parent_uuid) WHERE opens = 1;
CREATE TABLE tool_uses (
	id INTEGER NOT NULL, 
	transcript_id INTEGER NOT NULL, 
	thread_id INTEGER NOT NULL, 
	tool_use_id TEXT, 
	name TEXT, 
	server TEXT, 
	path TEXT, 
	read_offset INTEGER, 
	read_limit INTEGER, 
	command TEXT, 
	agent_type TEXT, 
	agent_id TEXT, 
	input_hash INTEGER, 
	use_record_id INTEGER, 
	use_ms INTEGER, 
	result_record_id INTEGER, 
	result_ms INTEGER, 
	result_hash INTEGER, 
	result_chars INTEGER DEFAULT '0' NOT NULL, 
	result_tokens INTEGER DEFAULT '0' NOT NULL, 
	is_error INTEGER DEFAULT '0' NOT NULL, 
	is_stub INTEGER DEFAULT '0' NOT NULL, 
	is_cut INTEGER DEFAULT '0' NOT NULL, 
	is_own INTEGER DEFAULT '0' NOT NULL, 
	prior_read_id INTEGER, 
	prior_edit_id INTEGER, 
	owns INTEGER DEFAULT '1' NOT NULL, 
	owns_result INTEGER DEFAULT '1' NOT NULL, 
	is_copied INTEGER DEFAULT '0' NOT NULL, 
	is_nested INTEGER DEFAULT '0' NOT NULL, 
	use_session TEXT, 
	result_session TEXT, 
	is_result_copied INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(thread_id) REFERENCES threads (id), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
);
CREATE INDEX tool_uses_by_agent ON tool_uses (agent_id) WHERE agent_id is not null;
CREATE INDEX tool_uses_by_tool_use_id ON tool_uses (tool_use_id) WHERE tool_use_id is not null;
CREATE INDEX tool_uses_rereading ON tool_uses (use_ms) WHERE prior_read_id is not null;
CREATE TABLE attachments (
	record_id INTEGER NOT NULL, 
	type TEXT NOT NULL, 
	name TEXT, 
	event TEXT, 
	added TEXT, 
	removed TEXT, 
	PRIMARY KEY (record_id), 
	FOREIGN KEY(record_id) REFERENCES records (id)
);
CREATE TABLE blocks (
	id INTEGER NOT NULL, 
	record_id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	category TEXT, 
	chars INTEGER DEFAULT '0' NOT NULL, 
	estimate INTEGER DEFAULT '0' NOT NULL, 
	tokens INTEGER DEFAULT '0' NOT NULL, 
	is_exact INTEGER DEFAULT '0' NOT NULL, 
	tool_use_id INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(record_id) REFERENCES records (id), 
	FOREIGN KEY(tool_use_id) REFERENCES tool_uses (id)
);
CREATE INDEX blocks_by_record ON blocks (record_id);
CREATE TABLE compactions (
	id INTEGER NOT NULL, 
	transcript_id INTEGER NOT NULL, 
	thread_id INTEGER NOT NULL, 
	uuid BLOB, 
	record_session TEXT, 
	"trigger" TEXT, 
	pre_tokens INTEGER, 
	post_tokens INTEGER, 
	dropped_tokens INTEGER, 
	duration_ms INTEGER, 
	messages_summarized INTEGER, 
	focus TEXT, 
	preserved TEXT, 
	discovered_tools TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES records (id), 
	FOREIGN KEY(thread_id) REFERENCES threads (id), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
);
CREATE INDEX compactions_by_thread ON compactions (thread_id);
CREATE TABLE preserved (
	record_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	uuid BLOB, 
	is_segment INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (record_id, place), 
	FOREIGN KEY(record_id) REFERENCES records (id)
) WITHOUT ROWID;
CREATE TABLE removals (
	record_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	tool_use_id TEXT, 
	uuid BLOB, 
	saved_tokens INTEGER, 
	PRIMARY KEY (record_id, place), 
	FOREIGN KEY(record_id) REFERENCES records (id)
) WITHOUT ROWID;
CREATE TABLE responses (
	id INTEGER NOT NULL, 
	transcript_id INTEGER NOT NULL, 
	thread_id INTEGER NOT NULL, 
	last_record_id INTEGER NOT NULL, 
	call_id INTEGER, 
	request_id TEXT, 
	message_id TEXT, 
	record_session TEXT, 
	message INTEGER, 
	ordinal INTEGER NOT NULL, 
	branch INTEGER DEFAULT '0' NOT NULL, 
	epoch INTEGER DEFAULT '0' NOT NULL, 
	is_copied INTEGER DEFAULT '0' NOT NULL, 
	is_nested INTEGER DEFAULT '0' NOT NULL, 
	is_advisor INTEGER DEFAULT '0' NOT NULL, 
	first_ms INTEGER, 
	last_ms INTEGER, 
	has_usage INTEGER DEFAULT '0' NOT NULL, 
	model TEXT, 
	input_tokens INTEGER DEFAULT '0' NOT NULL, 
	cache_read_tokens INTEGER DEFAULT '0' NOT NULL, 
	cache_write_tokens INTEGER DEFAULT '0' NOT NULL, 
	cache_write_1h_tokens INTEGER DEFAULT '0' NOT NULL, 
	output_tokens INTEGER DEFAULT '0' NOT NULL, 
	thinking_tokens INTEGER, 
	web_searches INTEGER DEFAULT '0' NOT NULL, 
	service_tier TEXT, 
	speed TEXT, 
	geo TEXT, 
	stop_reason TEXT, 
	effort TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(call_id) REFERENCES api_calls (id), 
	FOREIGN KEY(thread_id) REFERENCES threads (id), 
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
);
CREATE INDEX responses_by_call ON responses (call_id);
CREATE INDEX responses_by_message ON responses (message_id) WHERE message_id is not null;
CREATE INDEX responses_by_request ON responses (request_id) WHERE request_id is not null;
CREATE INDEX responses_by_thread ON responses (thread_id, id, call_id, last_ms, is_advisor, branch, epoch, ordinal);
CREATE TABLE tool_loads (
	record_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	PRIMARY KEY (record_id, name), 
	FOREIGN KEY(record_id) REFERENCES records (id)
) WITHOUT ROWID;
CREATE TABLE texts (
	block_id INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (block_id), 
	FOREIGN KEY(block_id) REFERENCES blocks (id)
);
insert into alembic_version (version_num) values ('0001');
