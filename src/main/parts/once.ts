/** Made at the first call and kept, a rejected promise too: what failed at start doesn't half work later. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
