export { isSecretName, secretClass, secretValues } from './names.ts';
export { createRedactor, GROWTH, MAX_HELD, type Masker, type RedactionStream, type Redactor } from './redactor.ts';
export type { Span } from './scan.ts';
