export { databaseFile } from './connection.ts';
export { databaseProblem } from './inspect.ts';
export { openReader, type Reader } from './reader.ts';
export type { Builder } from './schema.ts';
export { type Session, type Statement, select, statement } from './statement.ts';
export { createStore, type Store, type StoreParts } from './store.ts';
export { storeWrites } from './store-writes.ts';
export { runWriterThread } from './writer-thread.ts';
export { type Level, type WriteOptions, type Writes, writeOfMany } from './writes.ts';
