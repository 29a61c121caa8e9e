import type { SentenceTable } from '../statement.ts';
import { SHARED_SENTENCES } from './shared.ts';

/**
 * Every sentence of every topic by its code. A topic with sentences of its own adds its table here;
 * a second language would be a second list.
 */
export const TABLES: readonly SentenceTable[] = [SHARED_SENTENCES];

export const SENTENCES: SentenceTable = Object.assign({}, ...TABLES);
