import type { Socket } from 'node:net';

/**
 * The first line of a connection; what came after it is put back, for whoever reads on. Undefined when it doesn't come in time, is too
 * long, or the connection ends before.
 */
export function firstLine(socket: Socket, max_bytes: number, ms: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => finish(undefined), ms);

    function finish(line: string | undefined, rest?: Buffer): void {
      clearTimeout(timer);
      socket.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onEnd);
      socket.pause();
      if (rest !== undefined && rest.length > 0) socket.unshift(rest);
      chunks = [];
      resolve(line);
    }

    function onData(chunk: Buffer): void {
      const end = chunk.indexOf(0x0a);
      size += end === -1 ? chunk.length : end;
      chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
      if (size > max_bytes) finish(undefined);
      else if (end !== -1) finish(Buffer.concat(chunks).toString('utf8'), chunk.subarray(end + 1));
    }

    function onEnd(): void {
      finish(undefined);
    }
    socket.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd);
    // A connection may come paused, so that nothing is lost before somebody listens.
    socket.resume();
  });
}
