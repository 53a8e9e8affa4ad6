/** An option that may be given several times, for commander: its default is []. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
