/** A printed JSON configuration with more members for the server `writ` in its list. */
export function withMore(printed: string, list: string, more: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const config = JSON.parse(printed) as Record<string, { writ: Record<string, unknown> }>;
  const servers = config[list];
  if (servers === undefined) throw new Error(`The printed configuration has no ${list}: ${printed}`);
  return { ...config, [list]: { writ: { ...servers.writ, ...more } } };
}
