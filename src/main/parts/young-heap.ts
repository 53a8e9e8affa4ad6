import { setFlagsFromString } from 'node:v8';

/**
 * For a process that serves for long and keeps little: the room for what has just been allocated stays as it is now. Left alone, V8
 * widens it step by step to 32 MiB and more, of which nothing is alive, and a server seems to grow with each thousand calls. Node has
 * an option for this, but a host starts us and we can't choose its options; this factor is looked at each time the room would grow.
 */
export function keepYoungHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * And what has died among the old is taken away once it is a third of what lives: of each call some kilobytes get that far, and V8 would
 * let them pile up to several times what is alive, 30 MiB in a server that keeps 12.
 */
export function keepOldHeap(): void {
  setFlagsFromString('--heap-growing-percent=30');
}
