import type { Routing, RoutingRule } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import type { Database } from '../../platform/database/port.ts';
import { catalogueEntry, SonogateError } from '../../platform/errors/catalogue.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import { logRounds, type Rounds, startRounds } from '../../platform/rounds.ts';
import { secondsAfter } from '../../platform/time.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import type { ForwardKind } from '../outbox/delivery.ts';
import { applyMerges, isMergedId } from '../patients/merges.ts';
import type { ResultReader, Submit } from '../requests/request.ts';
import { holdForArchive } from './archive-count.ts';
import { completeDueStudies, expectedDeadline, hasOpenStudies, rerunPolicy } from './completion.ts';
import { completeExpected } from './expected-objects.ts';
import { type OrderAnswer, orderFor } from './order.ts';
import { lacksOrder } from './order-join.ts';
import { holdText } from './patient.ts';
import { type Priors, priorsFor } from './priors.ts';
import { routingAttributePaths } from './rules/attribute-values.ts';
import { type ContentFacts, type RuleVerdict, route, whyUnrouted } from './rules/route.ts';
import {
  addHoldReason,
  beginActing,
  claimCompleteStudies,
  endRevision,
  findStudy,
  type InstanceRow,
  instancesOf,
  ownSeries,
  recordSubmission,
  requestsOf,
  reschedule,
  type StudyRow,
} from './study-store.ts';
import {
  classifyImages,
  findContentFacts,
  NOT_LOOKED_AT,
  type Run,
  type RunningRule,
  runsOf,
  studyFactsOf,
  submissionOf,
} from './submission.ts';

interface StudyActionParts {
  config: Pick<Config, 'dataDir' | 'sources' | 'destinations' | 'orders' | 'hl7v2'>;
  /** The current rules; they can change without a restart. */
  routing: () => Routing;
  database: Database;
  objects: ReceivedObjects;
  submit: Submit;
  result: ResultReader['result'];
  /** Forwards received objects, given by their row ids. Each is forwarded only once. */
  forward: Forward;
  logger: Logger;
  now: () => Date;
}

/**
 * Creates the deliveries that forward received objects to destinations. Resolves after the commit.
 */
export type Forward = (
  instanceIds: readonly string[],
  destinations: readonly string[],
  kind: ForwardKind,
) => Promise<void>;

/** Seconds until a study is tried again after a transient failure. */
const RETRY_SECONDS = 10;

/**
 * Seconds until the rules are applied again to a study that is waiting for image classification.
 */
const LOOK_SECONDS = 1;
const LOOKING = 'The images are being classified because a routing rule depends on what they show.';

/**
 * Carries out the routing rules for a complete revision, and sets its final state. Every step can
 * be repeated: after a crash between two steps, the same requests and deliveries result.
 */
async function actOnStudy(study: StudyRow, parts: StudyActionParts): Promise<void> {
  const { config, database, logger } = parts;
  const log = { study: study.id, revision: study.revision, because: study.complete_because };
  try {
    const hold = holdText(study.hold_reason, study.patient_mismatch);
    if (hold !== null) {
      await endRevision(database, study, 'held', hold);
      logger.event('study_held', log);
      return;
    }
    // Our own results, returned by a PACS or kept by a local destination, are not used as input.
    const ours = await ownSeries(database, study.study_instance_uid);
    const instances = (await instancesOf(database, study)).filter(
      ({ header }) => !ours.has(header.seriesInstanceUid),
    );
    const judgedBy = async (content: ContentFacts) =>
      judgeStudy(study, instances, parts.routing(), {
        objects: parts.objects,
        at: parts.now(),
        content,
      });
    const known = await findContentFacts(database, study);
    let judged = await judgedBy(known ?? NOT_LOOKED_AT);
    if (judged.open && !known) {
      const { dataDir } = config;
      const seen = await classifyImages(study, instances, { ...parts, dataDir });
      if (!seen)
        return await reschedule(database, study, secondsAfter(parts.now(), LOOK_SECONDS), LOOKING);
      judged = await judgedBy(seen);
    }
    await carryOut(study, instances, judged, parts);
  } catch (error) {
    await onFailure(study, error, parts, log);
  }
}

const LATE =
  'Objects arrived after the study was interpreted, and its source is set to `rerun: never`.';

/**
 * Returns true if no endpoint may run because objects arrived late from a source whose studies are
 * interpreted only once. The objects are still forwarded. A person's command is always carried out.
 */
async function mayNotRunAgain(
  study: StudyRow,
  { config, database }: Pick<StudyActionParts, 'config' | 'database'>,
): Promise<boolean> {
  const asked = study.complete_because === 'command' || study.complete_because === 'rerun';
  if (asked || rerunPolicy(config.sources, study.source) !== 'never') return false;
  const former = await requestsOf(database, study.id);
  return former.some(({ revision }) => revision < study.revision);
}

/**
 * Applies the routing rules to a study without acting on it. If a person chose a rule, only that
 * rule is applied.
 */
export async function judgeStudy(
  study: StudyRow,
  instances: readonly InstanceRow[],
  routing: Routing,
  { objects, at, content }: { objects: ReceivedObjects; at: Date; content: ContentFacts },
): Promise<{ acting: RoutingRule[]; verdicts: RuleVerdict[]; open: boolean }> {
  const released = study.released_revision === study.revision;
  const rules = released ? routing.rules.filter(({ hold }) => !hold) : routing.rules;
  const facts = await studyFactsOf(study, instances, {
    paths: routingAttributePaths(routing),
    objects,
    at,
    content,
  });
  const judged = route({ ...routing, rules }, facts);
  if (!released || study.chosen_rule === null) return judged;
  return { ...judged, open: false, acting: rules.filter(({ name }) => name === study.chosen_rule) };
}

async function carryOut(
  study: StudyRow,
  instances: readonly InstanceRow[],
  { acting, verdicts }: { acting: readonly RoutingRule[]; verdicts: readonly RuleVerdict[] },
  { config, database, submit, forward, logger, now }: StudyActionParts,
): Promise<void> {
  const names = acting.map(({ name }) => name);
  const log = {
    study: study.id,
    revision: study.revision,
    objects: instances.length,
    rules: names,
  };
  const begin = async () => {
    const begun = await beginActing(database, study, acting);
    // If a person has held the study since it was claimed, it is due again at once, so that the
    // hold takes effect.
    if (!begun) await reschedule(database, study, now(), null);
    return begun;
  };
  if (acting.length === 0) {
    if (!(await begin())) return;
    await endRevision(database, study, 'unrouted', whyUnrouted(verdicts));
    logger.event('study_unrouted', { ...log, code: 'study_not_routed' });
    return;
  }
  const asked = runsOf(acting, instances);
  const late = asked.length > 0 && (await mayNotRunAgain(study, { config, database }));
  const running = late ? [] : asked;
  const priors = await priorsOf(
    study,
    running.map(({ rule }) => rule),
    { config, database, now },
  );
  const order = await orderOf(study, running, { config, database, now });
  const { waitsUntil } = priors;
  if (waitsUntil) return await reschedule(database, study, waitsUntil, SEEKING_PRIORS);
  if (order && 'waitsUntil' in order) {
    return await reschedule(database, study, order.waitsUntil, SEEKING_ORDER);
  }
  if (!(await begin())) return;
  const onward = [
    ['forward', acting.flatMap(({ forwardTo }) => forwardTo)],
    ['deidentified', acting.flatMap(({ deidentifyTo }) => deidentifyTo)],
  ] as const;
  const ids = instances.map(({ id }) => id);
  for (const [kind, destinations] of onward) {
    if (destinations.length > 0) await forward(ids, [...new Set(destinations)], kind);
  }
  for (const [index, { rule, instances: input }] of running.entries()) {
    const details = { further: index > 0, priors: priors.found.get(rule.name) ?? null, order };
    const request = await submit(submissionOf(study, input, rule, config, details));
    await recordSubmission(database, study, { rule: rule.name, requestId: request.id, at: now() });
    logger.event('study_submitted', { ...log, rule: rule.name, request: request.id });
  }
  if (late) logger.event('study_late_objects', log);
  await endRevision(database, study, ...endOf(acting.at(-1), { late, runs: running.length > 0 }));
}

/** Returns the state in which a revision ends after its rules have acted, and the reason. */
function endOf(
  last: RoutingRule | undefined,
  { late, runs }: { late: boolean; runs: boolean },
): [state: 'held' | 'submitted' | 'ignored' | 'routed', reason: string | null] {
  if (last?.hold) return ['held', `Held by the rule “${last.name}”.`];
  if (late) return ['submitted', LATE];
  if (runs) return ['submitted', null];
  if (last?.ignore) return ['ignored', `Matched by the rule “${last.name}”.`];
  return ['routed', last?.translate ? NO_REPORT : null];
}

const NO_REPORT = 'The study has no structured report from the ultrasound machine to translate.';

const SEEKING_PRIORS = 'Searching for earlier examinations of the patient.';

/**
 * Returns the earlier examinations for each rule that requests them. The study waits until all
 * searches have finished.
 */
async function priorsOf(
  study: StudyRow,
  rules: readonly RunningRule[],
  { config, database, now }: Pick<StudyActionParts, 'config' | 'database' | 'now'>,
): Promise<{ found: Map<string, Priors>; waitsUntil: Date | null }> {
  const found = new Map<string, Priors>();
  let waitsUntil: Date | null = null;
  for (const { name, priors } of rules) {
    if (!priors) continue;
    const at = { dataDir: config.dataDir, at: now() };
    const answer = await priorsFor(database, study, { name, priors }, at);
    if (!('waitsUntil' in answer)) found.set(name, answer);
    else if (!waitsUntil || answer.waitsUntil > waitsUntil) waitsUntil = answer.waitsUntil;
  }
  return { found, waitsUntil };
}

const SEEKING_ORDER = 'Searching for the order of the study.';

/**
 * Searches for the order of a study. Returns null without a search if the installation has no
 * worklist and receives no orders by HL7 version 2, if no endpoint is about to run, or if the study
 * has every value that these endpoints could take from an order.
 */
async function orderOf(
  study: StudyRow,
  running: readonly Run[],
  { config, database, now }: Pick<StudyActionParts, 'config' | 'database' | 'now'>,
): Promise<OrderAnswer | { waitsUntil: Date } | null> {
  const { worklists, waitSeconds } = config.orders;
  const hasSource = worklists.length > 0 || config.hl7v2 !== undefined;
  const headers = running.flatMap(({ instances }) => instances.map(({ header }) => header));
  const endpoints = running.map(({ rule }) => rule.run.endpoint);
  if (!hasSource || running.length === 0 || !lacksOrder(headers, endpoints)) return null;
  return await orderFor(database, study, { waitSeconds, at: now() });
}

/**
 * Handles a failed study. If the core refuses the study permanently, the study waits for a person;
 * after any other failure, it is tried again.
 */
async function onFailure(
  study: StudyRow,
  error: unknown,
  { database, logger, now }: StudyActionParts,
  log: object,
): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof SonogateError && catalogueEntry(error.code).retry === 'permanent') {
    await endRevision(database, study, 'refused', message);
  } else {
    await reschedule(database, study, secondsAfter(now(), RETRY_SECONDS), message);
  }
  logger.event('study_not_submitted', { ...log, error: message });
}

interface AssemblyParts extends StudyActionParts {
  /** Study Instance UIDs of acknowledged objects that have no row yet. */
  outstanding: () => string[];
}

const POLL_MILLISECONDS = 500;

/**
 * Deadlines are grouped into periods of this many milliseconds. Those in one period share a round,
 * which starts when the period ends.
 */
const DEADLINES_TOGETHER_MS = 20;

interface StudyAssembly extends Rounds {
  /** Starts a round when a deadline passes, so that its study need not wait for the next poll. */
  wakeAt(deadline: Date): void;
}

/**
 * Turns each complete study into requests. All deadlines are kept in the database, so a restart
 * does not affect them. Polling finds those that other processes have set.
 */
export function startStudyAssembly(parts: AssemblyParts): StudyAssembly {
  const { logger, now } = parts;
  const stopping = new AbortController();
  const { soon, stop } = startRounds({
    work: () => submitComplete(parts, stopping.signal),
    pauseMilliseconds: POLL_MILLISECONDS,
    ...logRounds(logger, 'study assembly', (error) =>
      logger.event('assembly_failed', { err: error }),
    ),
  });
  /** Timers of the scheduled rounds, by the time at which each will start. */
  const planned = new Map<number, NodeJS.Timeout>();
  return {
    wakeAt(deadline) {
      const period = Math.floor(deadline.getTime() / DEADLINES_TOGETHER_MS);
      const at = (period + 1) * DEADLINES_TOGETHER_MS;
      if (planned.has(at)) return;
      const start = () => {
        planned.delete(at);
        soon();
      };
      planned.set(at, setTimeout(start, Math.max(at - now().getTime(), 0)));
    },
    async stop() {
      stopping.abort();
      for (const timer of planned.values()) clearTimeout(timer);
      await stop();
    },
  };
}

const PERHAPS_MERGED =
  'The patient ID was merged into another one whose patient has a different birth date; release the study under the surviving ID if both are the same person, otherwise under its own ID.';

/**
 * If a study arrived under a patient ID that was merged, returns the study with the surviving ID.
 * If the study may belong to another patient, it also gets a reason to be held.
 */
async function underSurvivingId(
  study: StudyRow,
  { database, now }: Pick<AssemblyParts, 'database' | 'now'>,
): Promise<StudyRow> {
  if (!(await isMergedId(database, study.identity.PatientID))) return study;
  const outcome = await database.transaction((tx) => applyMerges(tx, study.id, now()));
  if (outcome === 'none') return study;
  if (outcome === 'doubtful') await addHoldReason(database, study, PERHAPS_MERGED);
  return (await findStudy(database, study.id)) ?? study;
}

/**
 * Acts on every complete study that is due. Once the gateway is stopping, only the study in
 * progress is finished.
 */
async function submitComplete(parts: AssemblyParts, stopping: AbortSignal): Promise<void> {
  const { config, database, now } = parts;
  if (!(await hasOpenStudies(database))) return;
  await completeExpected(database, (source) => expectedDeadline(config.sources, source, now()));
  await holdForArchive(database, config.sources, now());
  await completeDueStudies(database, now(), parts.outstanding);
  while (!stopping.aborted) {
    // Studies are claimed one at a time, because the lease of a study begins when it is claimed.
    const [study] = await claimCompleteStudies(database, now(), 1);
    if (!study) return;
    await actOnStudy(await underSurvivingId(study, parts), parts);
  }
}
