/**
 * The program of the writer thread, a bundle entry of its own (dist/writer-thread.js): the one place that knows every room's writes.
 * Started by `createStore` at the first write, never at start-up.
 */
import { approvalWrites } from '../approvals/index.ts';
import { auditWrites } from '../audit/index.ts';
import { identityWrites } from '../identity/index.ts';
import { runWriterThread, storeWrites } from '../store/index.ts';

runWriterThread({ ...storeWrites, ...auditWrites, ...approvalWrites, ...identityWrites });
