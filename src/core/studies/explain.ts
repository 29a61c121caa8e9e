import type { Routing } from '../../../config/routing.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import { type CorrectionNote, correctionNotes } from '../patients/corrections.ts';
import { isPerhapsMerged } from '../patients/merges.ts';
import { type ArchiveCount, countOfStudy } from './archive-count.ts';
import { judgeStudy } from './assembly.ts';
import type { CompletionSignal } from './completion.ts';
import { foundOrder, type OrderSearch, orderSearch } from './order.ts';
import { orderNote, studyContext } from './order-join.ts';
import { type PriorSearch, priorSearches } from './priors.ts';
import type { RuleVerdict } from './rules/route.ts';
import {
  findStudy,
  type InstanceRow,
  instancesOf,
  requestsOf,
  type StudyRequestRow,
  type StudyRow,
} from './study-store.ts';
import { findContentFacts, NOT_LOOKED_AT } from './submission.ts';

/** How a study was processed, and why. Does not identify the patient. */
export interface StudyExplanation {
  id: string;
  studyInstanceUid: string;
  source: string;
  callingAeTitle: string;
  calledAeTitle: string;
  state: string;
  reason: string | null;
  revision: number;
  firstReceivedAt: Date;
  lastReceivedAt: Date;
  completeAfter: Date;
  /** The signal that set `completeAfter`. */
  completeBecause: CompletionSignal;
  /** Time of the next attempt to process a complete study; null in any other state. */
  nextAttemptAt: Date | null;
  /**
   * The archive's object count; null if none was requested. `holdUntil` is the latest time until
   * which the study waits for the archive.
   */
  archiveCount: (ArchiveCount & { holdUntil: Date | null }) | null;
  /** The searches for earlier examinations, one for each rule that requests them. */
  priors: PriorSearch[];
  /** The search for the order; null if there was none. */
  order: OrderSearch | null;
  /** Corrections to the patient made by messages, without the values. */
  corrections: CorrectionNote[];
  /**
   * True if a person who releases the study must choose whether it continues under its own patient
   * ID or under the one that survived a merge.
   */
  perhapsMerged: boolean;
  tags: string[];
  objects: { file: string; sopInstanceUid: string; bytes: number; conflict: boolean }[];
  /**
   * The rule that a person chose on releasing the study; it acts whether or not it matches. Null if
   * no rule was chosen.
   */
  chosenRule: string | null;
  /** How every rule of the current configuration applies to this study. */
  rules: RuleVerdict[];
  requests: StudyRequestRow[];
}

/**
 * Explains a study.
 * @param key our id of the study or its Study Instance UID.
 * @returns null if the study is unknown.
 */
export async function explainStudy(
  database: Queryable,
  key: string,
  { routing, objects, at }: { routing: Routing; objects: ReceivedObjects; at: Date },
): Promise<StudyExplanation | null> {
  const study = await findStudy(database, key);
  if (!study) return null;
  const instances = await instancesOf(database, study);
  const { verdicts } = await judgeStudy(study, instances, routing, {
    objects,
    at,
    content: (await findContentFacts(database, study)) ?? NOT_LOOKED_AT,
  });
  return {
    id: study.id,
    studyInstanceUid: study.study_instance_uid,
    source: study.source,
    callingAeTitle: study.calling_ae_title,
    calledAeTitle: study.called_ae_title,
    state: study.state,
    reason: study.reason,
    revision: study.revision,
    firstReceivedAt: study.first_received_at,
    lastReceivedAt: study.last_received_at,
    completeAfter: study.complete_after,
    nextAttemptAt: study.state === 'complete' ? study.next_attempt_at : null,
    completeBecause: study.complete_because,
    archiveCount: await countOfStudy(database, study),
    priors: await priorSearches(database, study),
    order: await orderInWords(database, study, instances),
    corrections: await correctionNotes(database, study.id),
    perhapsMerged: await isPerhapsMerged(database, study.id),
    tags: study.tags,
    objects: instances.map(({ path, sop_instance_uid, bytes, conflict }) => ({
      file: path,
      sopInstanceUid: sop_instance_uid,
      bytes,
      conflict,
    })),
    chosenRule: study.released_revision === study.revision ? study.chosen_rule : null,
    rules: verdicts,
    requests: await requestsOf(database, study.id),
  };
}

/** Describes the search for the order, including which values were taken from it. */
async function orderInWords(
  database: Queryable,
  study: StudyRow,
  instances: readonly InstanceRow[],
): Promise<OrderSearch | null> {
  const search = await orderSearch(database, study);
  const order = await foundOrder(database, study);
  if (!search?.detail || !order) return search;
  const headers = instances.map(({ header }) => header);
  return { ...search, detail: orderNote(search.detail, studyContext(headers, order)) };
}
