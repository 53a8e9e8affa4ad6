/** Arguments with this prefix are the gate's own; a caller never sets them. */
const RESERVED = '_writ_';

/** Removes reserved arguments at the top level and says which were removed. Anything but an object passes as it is and fails validation. */
export function stripReserved(value: unknown): { readonly value: unknown; readonly notes: readonly string[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value, notes: [] };
  const reserved = Object.keys(value).filter((key) => key.toLowerCase().startsWith(RESERVED));
  if (reserved.length === 0) return { value, notes: [] };
  const kept = Object.fromEntries(Object.entries(value).filter(([key]) => !reserved.includes(key)));
  return { value: kept, notes: [`reserved arguments were removed: ${reserved.slice(0, 8).join(', ').slice(0, 200)}`] };
}
