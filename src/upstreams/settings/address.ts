/** What is wrong with the address of a remote server, as the end of a sentence; undefined: nothing. */
export function addressProblem(text: string): string | undefined {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'is no http(s) address';
  if (url.username !== '' || url.password !== '') return 'holds a user or password: those belong in headers';
  return undefined;
}

/** Read by everybody on the way. */
export function isUnencrypted(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'http:' && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}
