/** The part of @lydell/node-pty that loads its native module; the library's own types cover only its public face. */
declare module '@lydell/node-pty/requireBinary.js' {
  export function requireBinary(file: string): unknown;
}
