import { Socket } from 'node:net';

/**
 * Gives a command its standard input and then closes it. A command that doesn't read keeps nobody waiting: the bytes wait in memory until
 * the returned function is called at the end of the run. Owns the descriptor.
 */
export function feed(fd: number, bytes: Uint8Array): () => void {
  const socket = new Socket({ fd, readable: false, writable: true });
  // EPIPE: the command has closed its input or is gone, which is its right.
  socket.on('error', () => socket.destroy());
  socket.end(bytes);
  return () => {
    socket.destroy();
  };
}
