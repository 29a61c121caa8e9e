import type { SentenceTable } from '../statement.ts';
import { ECHO_TABLES } from './echo/tables.ts';
import { OBSTETRIC_TABLES } from './obstetric/index.ts';
import { MEASUREMENT_REMARKS } from './remarks.ts';
import { SHARED_SENTENCES } from './shared.ts';

/**
 * Sentence tables of all topics. A new topic adds its table here; a second language would need a
 * second list.
 */
export const TABLES: readonly SentenceTable[] = [
  SHARED_SENTENCES,
  MEASUREMENT_REMARKS,
  ...ECHO_TABLES,
  ...OBSTETRIC_TABLES,
];

export const SENTENCES: SentenceTable = Object.assign({}, ...TABLES);
