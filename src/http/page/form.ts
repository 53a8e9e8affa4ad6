/** What was typed into a field; empty where there is none, or a file in its place. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
