/** Names of the tools of Writ itself, which no upstream's tool may have (without its prefix). */
export const BUILT_IN_TOOLS = [
  'shell',
  'shell_output',
  'job_list',
  'job_get',
  'job_output',
  'job_cancel',
  'read_file',
  'write_file',
  'patch',
  'search_files',
  'browser',
  'read_artifact',
  'find_tools',
  'describe_tool',
  'call_tool',
] as const;
