import type { Routing } from '../../../config/routing.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { applyMerges, isPerhapsMerged, type MergeDecision } from '../patients/merges.ts';
import { judgeStudy } from './assembly.ts';
import type { CompletionSignal } from './completion.ts';
import type { RuleVerdict } from './rules/route.ts';
import {
  findStudy,
  instancesOf,
  lastStudies,
  type StudyRow,
  type StudyState,
} from './study-store.ts';
import { findContentFacts, NOT_LOOKED_AT } from './submission.ts';

/** The study on which a command was carried out, by our id. */
export interface ChangedStudy {
  studyId: string;
}

/**
 * Completes a study that is receiving objects, without waiting for more.
 * @param key our id or the Study Instance UID, here and in the other commands.
 * @throws SonogateError `not_found`.
 */
export async function completeNow(
  database: Database,
  key: string,
  at: Date,
): Promise<ChangedStudy> {
  return await database.transaction((tx) =>
    complete(tx, key, ['receiving'], { at, because: 'command', revisions: 0 }),
  );
}

export interface StudyRelease {
  rule: string | null;
  under: MergeDecision | null;
}

/**
 * Releases a study that is held, unrouted, ignored or refused. The rule chosen by the person then
 * acts on it or, if none was chosen, every rule that does not hold studies.
 * @param under the patient ID under which the study continues, if its patient may have been merged;
 * otherwise null.
 * @throws SonogateError `not_found`, also if no rule has that name; `invalid_input` if `under` is
 * missing or not needed.
 */
export async function releaseStudy(
  database: Database,
  key: string,
  { rule, under }: StudyRelease,
  { routing, at }: { routing: Routing; at: Date },
): Promise<ChangedStudy> {
  if (rule !== null && !routing.rules.some(({ name, hold }) => name === rule && !hold)) {
    throw new SonogateError(
      'not_found',
      `There is no routing rule "${rule}", or the rule holds studies.`,
    );
  }
  const states = ['held', 'unrouted', 'ignored', 'refused'] as const;
  return await database.transaction(async (tx) => {
    const change = { at, because: 'command', revisions: 0, released: true, rule } as const;
    const changed = await complete(tx, key, states, change);
    const mustDecide = await isPerhapsMerged(tx, changed.studyId);
    if (mustDecide !== (under !== null)) {
      throw new SonogateError('invalid_input', mustDecide ? UNDECIDED : NOTHING_TO_DECIDE);
    }
    if (under) await applyMerges(tx, changed.studyId, at, under);
    return changed;
  });
}

const UNDECIDED =
  'The patient ID was merged into another one whose patient has a different birth date. State whether the study is released under the surviving ID or under its own ID.';
const NOTHING_TO_DECIDE =
  'There is no merge to decide about, so the study is released without choosing a patient ID.';

/**
 * Holds a study, once complete, until a person releases it. Objects are still received.
 * @throws SonogateError `not_found`, also if the routing rules have begun to act on the study.
 */
export async function holdStudy(database: Database, key: string, reason: string): Promise<void> {
  const study = await findStudy(database, key);
  if (!study) throw new SonogateError('not_found', `There is no study ${key}.`);
  const { rowCount } = await database.query(
    `UPDATE studies SET hold_reason = $2, reason = $2
     WHERE id = $1 AND (state = 'receiving'
       OR (state = 'complete' AND acting_revision IS DISTINCT FROM revision))`,
    [study.id, reason],
  );
  if (rowCount === 1) return;
  const why = study.state === 'complete' ? 'being submitted or forwarded' : `${study.state}`;
  throw new SonogateError('not_found', `The study is ${why} and cannot be held.`);
}

/**
 * Interprets a study again, as a new revision with the same objects.
 * @throws SonogateError `not_found`.
 */
export async function rerunStudy(database: Database, key: string, at: Date): Promise<ChangedStudy> {
  const states = ['submitted', 'routed', 'unrouted', 'refused', 'ignored'] as const;
  return await database.transaction((tx) =>
    complete(tx, key, states, { at, because: 'rerun', revisions: 1 }),
  );
}

const ANY_OF = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Marks a study as complete. */
async function complete(
  tx: Queryable,
  key: string,
  states: readonly StudyState[],
  change: {
    at: Date;
    because: CompletionSignal;
    revisions: 0 | 1;
    released?: boolean;
    rule?: string | null;
  },
): Promise<ChangedStudy> {
  const study = await findStudy(tx, key);
  if (!study) throw new SonogateError('not_found', `There is no study ${key}.`);
  const { rowCount } = await tx.query(
    `UPDATE studies SET state = 'complete', reason = NULL, complete_after = $2,
       next_attempt_at = $2, complete_because = $3, revision = revision + $4,
       released_revision = CASE WHEN $5 THEN revision + $4 ELSE released_revision END,
       chosen_rule = $6, hold_reason = CASE WHEN $5 THEN NULL ELSE hold_reason END,
       patient_mismatch = CASE WHEN $5 THEN NULL ELSE patient_mismatch END,
       acting_revision = NULL
     WHERE id = $1 AND state = ANY ($7::text[])`,
    [
      study.id,
      change.at,
      change.because,
      change.revisions,
      change.released ?? false,
      change.rule ?? null,
      states,
    ],
  );
  if (rowCount === 1) return { studyId: study.id };
  const needed = ANY_OF.format(states);
  throw new SonogateError(
    'not_found',
    `The study is ${study.state}; it would have to be ${needed}.`,
  );
}

/** The effect that edited rules would have on one study. */
export interface DryRun {
  study: string;
  receivedAt: Date;
  /** Names of the rules that would act; empty if the study would be unrouted. */
  acting: string[];
  verdicts: RuleVerdict[];
}

/** Applies the rules of `routing` to the most recently received studies, without acting on them. */
export async function dryRun(
  database: Database,
  {
    routing,
    objects,
    at,
    last,
  }: { routing: Routing; objects: ReceivedObjects; at: Date; last: number },
): Promise<DryRun[]> {
  const runs: DryRun[] = [];
  for (const study of await lastStudies(database, last)) {
    runs.push(await judged(database, study, { routing, objects, at }));
  }
  return runs;
}

async function judged(
  database: Database,
  study: StudyRow,
  { routing, objects, at }: { routing: Routing; objects: ReceivedObjects; at: Date },
): Promise<DryRun> {
  const instances = await instancesOf(database, study);
  const { acting, verdicts } = await judgeStudy(study, instances, routing, {
    objects,
    at,
    content: (await findContentFacts(database, study)) ?? NOT_LOOKED_AT,
  });
  return {
    study: study.id,
    receivedAt: study.first_received_at,
    acting: acting.map(({ name }) => name),
    verdicts,
  };
}
