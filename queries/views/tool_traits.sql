-- tool_traits: what Claude Code's tools do, one row a tool that has a trait; all but the name are 1 = yes, 0 = no.
--   name           the tool
--   reads          gives a part of a file: the same part again is a re-read (X-reread)
--   edits          changes the file that it names: what was read of it before may be read again (X-reread, D13)
--   retrieves      looks something up: what it takes and gives is of the category retrieved (D8)
--   acts           is used for what it does: nothing need be said of what it answers (D13)
--   runs_commands  runs a command line
--   starts_agents  starts a subagent: its result is of the category state (D8)
--   calls_skills   calls a skill or a command by its name (D18)
--   retells        gives what a model wrote for it: such a text has fewer tokens than its characters tell (D9)
create view tool_traits (name, reads, edits, retrieves, acts, runs_commands, starts_agents, calls_skills, retells) as
values
  ('Agent',           0, 0, 0, 0, 0, 1, 0, 1),
  ('AskUserQuestion', 0, 0, 0, 1, 0, 0, 0, 0),
  ('Bash',            0, 0, 0, 0, 1, 0, 0, 0),
  ('Edit',            0, 1, 0, 1, 0, 0, 0, 0),
  ('EnterPlanMode',   0, 0, 0, 1, 0, 0, 0, 0),
  ('ExitPlanMode',    0, 0, 0, 1, 0, 0, 0, 0),
  ('Glob',            0, 0, 1, 0, 0, 0, 0, 0),
  ('Grep',            0, 0, 1, 0, 0, 0, 0, 0),
  ('LS',              0, 0, 1, 0, 0, 0, 0, 0),
  ('MultiEdit',       0, 1, 0, 1, 0, 0, 0, 0),
  ('NotebookEdit',    0, 1, 0, 1, 0, 0, 0, 0),
  ('NotebookRead',    0, 0, 1, 0, 0, 0, 0, 0),
  ('PowerShell',      0, 0, 0, 0, 1, 0, 0, 0),
  ('Read',            1, 0, 1, 0, 0, 0, 0, 0),
  ('Skill',           0, 0, 0, 1, 0, 0, 1, 0),
  ('SlashCommand',    0, 0, 0, 1, 0, 0, 1, 0),
  ('Task',            0, 0, 0, 0, 0, 1, 0, 1),
  ('TaskCreate',      0, 0, 0, 1, 0, 0, 0, 0),
  ('TaskUpdate',      0, 0, 0, 1, 0, 0, 0, 0),
  ('TodoWrite',       0, 0, 0, 1, 0, 0, 0, 0),
  ('ToolSearch',      0, 0, 0, 1, 0, 0, 0, 0),
  ('WebFetch',        0, 0, 1, 0, 0, 0, 0, 1),
  ('WebSearch',       0, 0, 1, 0, 0, 0, 0, 1),
  ('Write',           0, 1, 0, 1, 0, 0, 0, 0);
