export { type ExportSummary, exportAudit } from './export.ts';
export type { Finding, FindingKind } from './findings.ts';
export { type EventFilter, type EventPage, type ListOptions, listEvents, type RecordedEvent, showEvent } from './list.ts';
export { type AuditLogParts, createAuditLog } from './log.ts';
export type { VerifyReport } from './report.ts';
export type { AuditEvent, AuditLog, AuditRef, RecordOptions } from './types.ts';
export { type VerifyOptions, verifyAudit } from './verify.ts';
export { verifyExport } from './verify-export.ts';
export { type AuditWrites, auditWrites } from './writes.ts';
