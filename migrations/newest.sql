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
	project_id INTEGER, repo TEXT, 
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
CREATE TABLE branches (
	thread_id INTEGER NOT NULL, 
	branch INTEGER NOT NULL, 
	parent_branch INTEGER NOT NULL, 
	fork_uuid BLOB, 
	first_record_id INTEGER NOT NULL, 
	PRIMARY KEY (thread_id, branch), 
	FOREIGN KEY(thread_id) REFERENCES threads (id)
) WITHOUT ROWID;
CREATE TABLE words (
	id INTEGER NOT NULL,
	word TEXT NOT NULL,
	PRIMARY KEY (id)
);
CREATE TABLE weights (
	name TEXT NOT NULL,
	model TEXT NOT NULL,
	value FLOAT NOT NULL,
	shipped FLOAT NOT NULL,
	pairs INTEGER DEFAULT '0' NOT NULL,
	PRIMARY KEY (name, model)
) WITHOUT ROWID;
CREATE TABLE stored_records (
	id INTEGER NOT NULL,
	length INTEGER NOT NULL,
	type INTEGER,
	subtype INTEGER,
	uuid BLOB,
	parent_uuid BLOB,
	time_ms INTEGER,
	thread INTEGER DEFAULT '0' NOT NULL,
	branch INTEGER DEFAULT '0' NOT NULL,
	epoch INTEGER DEFAULT '0' NOT NULL,
	call_ordinal INTEGER DEFAULT '0' NOT NULL,
	message INTEGER,
	response_back INTEGER,
	flags INTEGER DEFAULT '0' NOT NULL,
	origin INTEGER,
	PRIMARY KEY (id)
);
CREATE TABLE stored_responses (
	id INTEGER NOT NULL,
	thread_id INTEGER NOT NULL,
	last_ahead INTEGER DEFAULT '0' NOT NULL,
	shared_call_id INTEGER,
	request_id TEXT,
	message_id TEXT,
	record_session INTEGER,
	message INTEGER,
	ordinal INTEGER NOT NULL,
	branch INTEGER DEFAULT '0' NOT NULL,
	epoch INTEGER DEFAULT '0' NOT NULL,
	flags INTEGER DEFAULT '0' NOT NULL,
	took_ms INTEGER,
	last_ms INTEGER,
	model INTEGER,
	input_tokens INTEGER DEFAULT '0' NOT NULL,
	cache_read_tokens INTEGER DEFAULT '0' NOT NULL,
	cache_write_tokens INTEGER DEFAULT '0' NOT NULL,
	cache_write_1h_tokens INTEGER DEFAULT '0' NOT NULL,
	output_tokens INTEGER DEFAULT '0' NOT NULL,
	thinking_tokens INTEGER,
	web_searches INTEGER DEFAULT '0' NOT NULL,
	service_tier INTEGER,
	speed INTEGER,
	geo INTEGER,
	stop_reason INTEGER,
	effort INTEGER,
	git_branch INTEGER,
	PRIMARY KEY (id),
	FOREIGN KEY(thread_id) REFERENCES threads (id)
);
CREATE TABLE stored_response_facts (
	response_id INTEGER NOT NULL,
	requested_model INTEGER,
	request BLOB,
	miss_reason INTEGER,
	missed_tokens INTEGER,
	skill INTEGER,
	plugin INTEGER,
	mcp_server INTEGER,
	mcp_tool INTEGER,
	agent INTEGER,
	PRIMARY KEY (response_id)
);
CREATE TABLE stored_requests (
	record_id INTEGER NOT NULL,
	uuid BLOB,
	base BLOB,
	kept INTEGER,
	tail INTEGER,
	shape_hash INTEGER,
	cache_hash INTEGER,
	model INTEGER,
	effort INTEGER,
	source INTEGER,
	agent INTEGER,
	PRIMARY KEY (record_id)
);
CREATE TABLE request_shapes (
	record_id INTEGER NOT NULL,
	shape_hash INTEGER,
	PRIMARY KEY (record_id)
);
CREATE TABLE stored_sent_parts (
	record_id INTEGER NOT NULL,
	place INTEGER NOT NULL,
	kind INTEGER,
	name INTEGER,
	path TEXT,
	chars INTEGER DEFAULT '0' NOT NULL,
	soft INTEGER DEFAULT '0' NOT NULL,
	marks INTEGER DEFAULT '0' NOT NULL,
	PRIMARY KEY (record_id, place)
) WITHOUT ROWID;
CREATE TABLE stored_calls (
	id INTEGER NOT NULL,
	response_id INTEGER,
	usage_id INTEGER,
	time_ms INTEGER,
	price_id INTEGER,
	retained INTEGER DEFAULT '0' NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(price_id) REFERENCES prices (id)
);
CREATE TABLE stored_blocks (
	id INTEGER NOT NULL,
	place INTEGER DEFAULT '0' NOT NULL,
	kind INTEGER,
	category INTEGER,
	chars INTEGER DEFAULT '0' NOT NULL,
	soft INTEGER DEFAULT '0' NOT NULL,
	marks INTEGER DEFAULT '0' NOT NULL,
	extra INTEGER DEFAULT '0' NOT NULL,
	estimate INTEGER DEFAULT '0' NOT NULL,
	share INTEGER,
	use_back INTEGER,
	PRIMARY KEY (id)
);
CREATE TABLE texts (
	block_id INTEGER NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (block_id),
	FOREIGN KEY(block_id) REFERENCES stored_blocks (id)
);
CREATE TABLE stored_tool_uses (
	id INTEGER NOT NULL,
	thread INTEGER DEFAULT '0' NOT NULL,
	use_key TEXT,
	name INTEGER,
	path TEXT,
	read_offset INTEGER,
	read_limit INTEGER,
	command TEXT,
	agent_type INTEGER,
	agent_id TEXT,
	resolved_model INTEGER,
	input_hash INTEGER,
	use_back INTEGER,
	use_ms INTEGER,
	result_ahead INTEGER,
	result_ms INTEGER,
	result_hash INTEGER,
	result_chars INTEGER DEFAULT '0' NOT NULL,
	result_images INTEGER DEFAULT '0' NOT NULL,
	flags INTEGER DEFAULT '0' NOT NULL,
	prior_read_back INTEGER,
	prior_edit_back INTEGER,
	use_session INTEGER,
	result_session INTEGER,
	PRIMARY KEY (id)
);
CREATE TABLE tool_loads (
	record_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (record_id, name),
	FOREIGN KEY(record_id) REFERENCES stored_records (id)
) WITHOUT ROWID;
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
	FOREIGN KEY(id) REFERENCES stored_records (id),
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id),
	FOREIGN KEY(thread_id) REFERENCES threads (id)
);
CREATE TABLE preserved (
	record_id INTEGER NOT NULL,
	place INTEGER NOT NULL,
	uuid BLOB,
	is_segment INTEGER DEFAULT '0' NOT NULL,
	PRIMARY KEY (record_id, place),
	FOREIGN KEY(record_id) REFERENCES stored_records (id)
) WITHOUT ROWID;
CREATE TABLE removals (
	record_id INTEGER NOT NULL,
	place INTEGER NOT NULL,
	kind TEXT NOT NULL,
	use_key TEXT,
	uuid BLOB,
	saved_tokens INTEGER,
	PRIMARY KEY (record_id, place),
	FOREIGN KEY(record_id) REFERENCES stored_records (id)
) WITHOUT ROWID;
CREATE TABLE attachments (
	record_id INTEGER NOT NULL,
	type TEXT NOT NULL,
	name TEXT,
	event TEXT,
	added TEXT,
	removed TEXT,
	PRIMARY KEY (record_id),
	FOREIGN KEY(record_id) REFERENCES stored_records (id)
);
CREATE TABLE cost_states (
	transcript_id INTEGER NOT NULL,
	model TEXT NOT NULL,
	record_id INTEGER NOT NULL,
	input_tokens INTEGER DEFAULT '0' NOT NULL,
	output_tokens INTEGER DEFAULT '0' NOT NULL,
	thinking_tokens INTEGER,
	cache_read_tokens INTEGER DEFAULT '0' NOT NULL,
	cache_write_tokens INTEGER DEFAULT '0' NOT NULL,
	cache_write_5m_tokens INTEGER,
	cache_write_1h_tokens INTEGER,
	web_searches INTEGER DEFAULT '0' NOT NULL,
	cost_usd FLOAT,
	PRIMARY KEY (transcript_id, model),
	FOREIGN KEY(transcript_id) REFERENCES transcripts (id)
) WITHOUT ROWID;
CREATE TABLE payload_facts (
	session_id TEXT NOT NULL,
	model TEXT NOT NULL,
	time_ms INTEGER NOT NULL,
	window_tokens INTEGER,
	cache_ttl TEXT,
	cache_expires_ms INTEGER,
	repo TEXT,
	worktree TEXT,
	worktree_of TEXT,
	branch TEXT,
	pr TEXT,
	PRIMARY KEY (session_id, model)
) WITHOUT ROWID;
CREATE TABLE limit_samples (
	name TEXT NOT NULL,
	time_ms INTEGER NOT NULL,
	used_percentage FLOAT NOT NULL,
	resets_ms INTEGER,
	PRIMARY KEY (name, time_ms)
) WITHOUT ROWID;
CREATE TABLE stored_call_sums (
	thread_id INTEGER NOT NULL,
	quarter INTEGER NOT NULL,
	model INTEGER NOT NULL,
	price_id INTEGER NOT NULL,
	mode TEXT NOT NULL,
	calls INTEGER NOT NULL,
	input_tokens INTEGER NOT NULL,
	cache_read_tokens INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	cache_write_1h_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	web_searches INTEGER NOT NULL,
	retained INTEGER NOT NULL,
	placeholders INTEGER NOT NULL,
	PRIMARY KEY (thread_id, quarter, model, price_id, mode)
) WITHOUT ROWID;
CREATE TABLE stored_tool_sums (
	thread_id INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	quarter INTEGER NOT NULL,
	name INTEGER NOT NULL,
	uses INTEGER NOT NULL,
	results INTEGER NOT NULL,
	result_tokens INTEGER NOT NULL,
	behind_calls INTEGER NOT NULL,
	errors INTEGER NOT NULL,
	PRIMARY KEY (thread_id, branch, epoch, quarter, name)
) WITHOUT ROWID;
CREATE TABLE spans (
	thread_id INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	last_call INTEGER DEFAULT '0' NOT NULL,
	last_result INTEGER DEFAULT '0' NOT NULL,
	PRIMARY KEY (thread_id, branch, epoch)
) WITHOUT ROWID;
CREATE TABLE stored_curves (
	thread_id INTEGER NOT NULL,
	part INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	first_ms INTEGER,
	last_ms INTEGER,
	peak_tokens INTEGER NOT NULL,
	contexts TEXT NOT NULL,
	PRIMARY KEY (thread_id, part)
) WITHOUT ROWID;
CREATE TABLE stored_curve_models (
	thread_id INTEGER NOT NULL,
	part INTEGER NOT NULL,
	model INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	peak_tokens INTEGER NOT NULL,
	first_id INTEGER NOT NULL,
	last_id INTEGER NOT NULL,
	fall_tokens INTEGER,
	PRIMARY KEY (thread_id, part, model)
) WITHOUT ROWID;
CREATE TABLE stored_window_sums (
	thread_id INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	category INTEGER NOT NULL,
	tokens INTEGER NOT NULL,
	messages INTEGER NOT NULL,
	PRIMARY KEY (thread_id, branch, epoch, category)
) WITHOUT ROWID;
CREATE INDEX records_by_uuid ON stored_records (substr(uuid, 1, 4)) WHERE uuid is not null;
CREATE INDEX records_of_prompts ON stored_records (thread) WHERE flags & 6;
CREATE INDEX records_opening ON stored_records (substr(parent_uuid, 1, 4)) WHERE flags & 1;
CREATE INDEX responses_by_call ON stored_responses (shared_call_id) WHERE shared_call_id is not null;
CREATE INDEX responses_by_message ON stored_responses (substr(message_id, iif(length(message_id) = 24, -6, -64))) WHERE message_id is not null;
CREATE INDEX responses_by_request ON stored_responses (substr(request_id, iif(length(request_id) = 24, -6, -64))) WHERE request_id is not null;
CREATE INDEX responses_by_thread ON stored_responses (thread_id);
CREATE INDEX response_facts_by_request ON stored_response_facts (request) WHERE request is not null;
CREATE INDEX calls_by_time ON stored_calls (time_ms);
CREATE INDEX tool_uses_by_agent ON stored_tool_uses (agent_id) WHERE agent_id is not null;
CREATE INDEX tool_uses_by_key ON stored_tool_uses (substr(use_key, iif(length(use_key) = 24, -6, -64))) WHERE use_key is not null;
CREATE INDEX tool_uses_rereading ON stored_tool_uses (use_ms) WHERE prior_read_back is not null;
CREATE INDEX compactions_by_thread ON compactions (thread_id);
CREATE INDEX transcripts_read ON transcripts (root, parser) WHERE gone = 0 and size >= 0;
CREATE TABLE habits (
	kind TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	since_ms INTEGER NOT NULL, 
	value FLOAT NOT NULL, 
	support INTEGER NOT NULL, 
	PRIMARY KEY (kind, scope, since_ms)
) WITHOUT ROWID;
CREATE TABLE stored_rebuilds (
	response_id INTEGER NOT NULL, 
	rebuilt_tokens INTEGER NOT NULL, 
	gap_ms INTEGER, 
	changes INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (response_id)
);
CREATE TABLE stored_version_starts (
	record_id INTEGER NOT NULL, 
	version INTEGER, 
	PRIMARY KEY (record_id)
);
insert into alembic_version (version_num) values ('0004');
