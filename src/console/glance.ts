import type { Result } from '../../pipelines/result/envelope.ts';
import type { Queryable } from '../database/port.ts';
import type { WorklistRow } from './contract.ts';
import { unitOf, valueText, type Wording } from './result-view.ts';
import type { ListedRow } from './worklist-rows.ts';

/** What a reader looks for first, by concept; the first that a result has are shown. */
const FIRST_LOOK = [
  'efw',
  'ga-by-hc-ac-fl',
  'fetal-heart-rate',
  'crl',
  'hc',
  'ac',
  'fl',
  'lvef-biplane',
  'lvef-4c',
  'gls-end-systolic',
  'gls-peak-systolic',
  'lvedv-biplane',
  'tapse',
  'lvef',
] as const;
const MOST_VALUES = 4;
/** The section that puts the others into words. */
const REPORT = 'report';
const AT_A_TIME = 4;

type Glance = NonNullable<WorklistRow['glance']>;

/** At most four accepted values that stand in a result, and how many of its sections were assessed. */
export function glanceOf({ measurements, sections }: Result, wording: Wording): Glance {
  const accepted = wording.standing(measurements).filter(({ quality }) => quality === 'accepted');
  const values = FIRST_LOOK.flatMap((key) => {
    const found = accepted.find(({ concept }) => concept.key === key);
    if (!found) return [];
    const value = `${valueText(found, wording)} ${unitOf(found, wording)}`.trimEnd();
    return [`${wording.abbreviation(key)} ${value}`];
  });
  const asked = sections.filter(({ id, status }) => id !== REPORT && status !== 'not_requested');
  const assessed = asked.filter(({ status }) => status === 'complete' || status === 'partial');
  return {
    values: values.slice(0, MOST_VALUES),
    assessed: assessed.length,
    sections: asked.length,
  };
}

/** The rows with the glances of their results; those that nobody has made yet are made and kept. */
export async function withGlances(
  rows: readonly ListedRow[],
  parts: {
    database: Queryable;
    result(requestId: string): Promise<unknown>;
    wording: Wording;
  },
): Promise<ListedRow[]> {
  const lacking = rows.filter(({ status, glance }) => status === 'succeeded' && glance === null);
  const made = new Map<string, Glance>();
  const pending = [...lacking];
  const work = async () => {
    for (let row = pending.pop(); row; row = pending.pop()) {
      const id = row.request_id ?? '';
      // The core has checked the result against the envelope's schema before it was stored.
      const result = (await parts.result(id).catch(() => null)) as Result | null;
      if (!result || !Array.isArray(result.measurements)) continue;
      const glance = glanceOf(result, parts.wording);
      made.set(id, glance);
      await keepGlance(parts.database, id, glance);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return rows.map((row) => ({ ...row, glance: made.get(row.request_id ?? '') ?? row.glance }));
}

/** Not of a request whose result has just been purged. */
async function keepGlance(database: Queryable, id: string, glance: Glance): Promise<void> {
  await database.query(
    `INSERT INTO result_glances (request_id, glance)
     SELECT id, $2::jsonb FROM requests WHERE id = $1 AND status = 'succeeded'
     ON CONFLICT (request_id) DO NOTHING`,
    [id, JSON.stringify(glance)],
  );
}
