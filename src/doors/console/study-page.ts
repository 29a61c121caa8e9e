import { specialtyOf } from '../../../pipelines/concepts/specialty.ts';
import {
  WITHDRAWAL_REASON_CODES,
  WITHDRAWAL_REASONS,
  withdrawalText,
} from '../../../pipelines/contract/withdrawal.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import { may, readsFreeText, sees } from '../../core/accounts/roles.ts';
import { withdrawalReceivers } from '../../core/outbox/withdrawals.ts';
import type { RequestRow } from '../../core/requests/request.ts';
import { isInternal } from '../../core/requests/results.ts';
import type { StudyExplanation } from '../../core/studies/explain.ts';
import type { InstanceHeader } from '../../core/studies/instance-header.ts';
import type {
  ConditionVerdict as JudgedCondition,
  RuleVerdict as JudgedRule,
} from '../../core/studies/rules/route.ts';
import { factText } from '../../core/studies/rules/rule-words.ts';
import { catalogueEntry } from '../../platform/errors/catalogue.ts';
import type { ConsoleDeps } from './context.ts';
import type {
  ConsoleRole,
  RequestSummary,
  RuleVerdict,
  StudyAction,
  StudyObject,
  StudyPage,
  TimelineEntry,
  WorklistRow,
} from './contract.ts';
import { listDeliveriesOf } from './deliveries.ts';
import { readTraces, type Traces, timelineOf } from './timeline.ts';
import { sopClassName } from './wording.ts';
import { acknowledgedBy, type ListedRow, showRow } from './worklist.ts';

const MOST_EARLIER = 20;

type PageDeps = Pick<ConsoleDeps, 'database' | 'operations' | 'showSubject' | 'config' | 'core'>;

/** Returns what a role may see of a study, or of a single request without a study. */
export async function studyPage(
  row: ListedRow,
  role: ConsoleRole,
  deps: PageDeps,
): Promise<StudyPage> {
  const requests = await requestsOf(row, deps);
  const requestIds = requests.map(({ id }) => id);
  const judged = row.study_id ? await deps.operations.studies.explain(row.study_id) : null;
  const rules = judged?.rules ?? [];
  const traces = await readTraces(deps.database, { studyId: row.study_id, requestIds, rules });
  return {
    row: showRow(row, role, deps.showSubject),
    study: judged && (await studyOf(row, role, judged, traces, deps)),
    requests: await Promise.all(requests.map((request) => shownRequest(request, role, deps))),
    timeline: timelineOf(traces).flatMap((entry) => shownEntry(entry, role)),
    deliveries: await listDeliveriesOf(requestIds, row.study_id, role, deps),
    earlier: await earlierStudies(row, deps),
    actions: actionsOn(row, role),
    withdrawalReasons: WITHDRAWAL_REASON_CODES.map((code) => ({
      code,
      text: WITHDRAWAL_REASONS[code].title,
    })),
  };
}

async function studyOf(
  { study_id: id, identity }: ListedRow,
  role: ConsoleRole,
  {
    rules,
    chosenRule,
    perhapsMerged,
  }: Pick<StudyExplanation, 'rules' | 'chosenRule' | 'perhapsMerged'>,
  { study }: Traces,
  deps: PageDeps,
): Promise<StudyPage['study']> {
  if (id === null || !study) return null;
  return {
    id,
    viewer: sees(role) === 'identity' ? viewerLink(deps.config.console.viewer, identity) : null,
    callingAeTitle: study.calling_ae_title,
    calledAeTitle: study.called_ae_title,
    objects: await objectsOf(id, deps),
    rules: rules.map((rule) => shownVerdict(rule, role)),
    chosenRule,
    releasableTo: deps.operations.rules
      .current()
      .rules.filter(({ hold }) => !hold)
      .map(({ name }) => name),
    perhapsMerged,
  };
}

/**
 * Returns the link to the study in the hospital's viewer; null if no viewer is configured, or if an
 * attribute that the address needs is missing. Values are percent-encoded, so that no value can
 * change the rest of the address.
 */
export function viewerLink(
  viewer: ConsoleDeps['config']['console']['viewer'],
  identity: DicomIdentity | null,
): { label: string; url: string } | null {
  if (!viewer || !identity) return null;
  const parts = ['StudyInstanceUID', 'AccessionNumber', 'PatientID'] as const;
  const needed = parts.filter((part) => viewer.url.includes(`{${part}}`));
  if (needed.some((part) => identity[part] === '')) return null;
  const url = needed.reduce(
    (address, part) => address.replaceAll(`{${part}}`, () => encodeURIComponent(identity[part])),
    viewer.url,
  );
  return { label: viewer.label, url };
}

/** Returns the actions that a role may take on a row in its current state. */
export function actionsOn(row: ListedRow, role: ConsoleRole): StudyAction[] {
  const allowed: StudyAction[] = [];
  const study = row.study_id !== null;
  if (may(role, 'run')) {
    if (study && row.state === 'receiving') allowed.push('complete');
    if (study && (row.state === 'receiving' || row.state === 'complete')) allowed.push('hold');
    if (['held', 'unrouted', 'ignored', 'refused'].includes(row.state)) allowed.push('release');
    if (study && !['receiving', 'complete', 'held'].includes(row.state)) allowed.push('rerun');
    if (['queued', 'preparing', 'running'].includes(row.state)) allowed.push('cancel');
  }
  if (may(role, 'confirm') && row.flags.length > 0 && !acknowledgedBy(row)) {
    allowed.push('acknowledge');
  }
  return allowed;
}

interface RequestOfRow extends RequestRow {
  revision: number | null;
  signed: boolean;
  artifacts: { name: string; bytes: number; section: string | null }[];
}

/** Lists the row's requests, newest first. */
async function requestsOf(
  { study_id, request_id }: ListedRow,
  { database }: PageDeps,
): Promise<RequestOfRow[]> {
  const { rows } = await database.query<RequestOfRow>(
    `SELECT r.*, s.revision,
       EXISTS (SELECT 1 FROM reviews v WHERE v.request_id = r.id AND v.signed_revision > 0) AS signed,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('name', a.name, 'bytes', a.bytes,
           'section', a.section) ORDER BY a.position), '[]')
         FROM request_artifacts a WHERE a.request_id = r.id) AS artifacts
     FROM requests r LEFT JOIN study_requests s ON s.request_id = r.id
     WHERE CASE WHEN $1::uuid IS NULL THEN r.id = $2 ELSE s.study_id = $1::uuid END
     ORDER BY r.id DESC`,
    [study_id, request_id],
  );
  return rows;
}

/** Returns a withdrawal as a role sees it: only roles that read free text see who wrote what. */
async function shownWithdrawal(
  { id, withdrawal }: RequestOfRow,
  role: ConsoleRole,
  { database }: PageDeps,
): Promise<RequestSummary['withdrawal']> {
  if (withdrawal === null) return null;
  const free = readsFreeText(role);
  const receivers = await withdrawalReceivers(database, id);
  return {
    at: withdrawal.at,
    by: free ? withdrawal.by : null,
    reason: withdrawalText(free ? withdrawal : { ...withdrawal, text: null }),
    receivers: free
      ? receivers
      : receivers.map(({ destination, state }) => ({ destination, state })),
  };
}

async function shownRequest(
  request: RequestOfRow,
  role: ConsoleRole,
  deps: PageDeps,
): Promise<RequestSummary> {
  const { fault } = request;
  const hasResult = request.status === 'succeeded' || request.status === 'expired';
  return {
    id: request.id,
    revision: request.revision,
    signed: request.signed,
    withdrawal: await shownWithdrawal(request, role, deps),
    mayWithdraw: hasResult && request.withdrawal === null && may(role, 'withdraw'),
    endpoint: request.endpoint,
    state: request.status,
    endedAt: request.ended_at?.toISOString() ?? null,
    error: fault && {
      code: fault.code,
      title: catalogueEntry(fault.code).title,
      detail: readsFreeText(role) ? fault.detail : '',
    },
    artifacts: request.artifacts
      .filter((one) => !isInternal(one))
      .map(({ name, bytes, section }) => ({ name, bytes, section })),
  };
}

async function objectsOf(studyId: string, { database }: PageDeps): Promise<StudyObject[]> {
  const { rows } = await database.query<{
    header: InstanceHeader;
    revision: number;
    conflict: boolean;
  }>('SELECT header, revision, conflict FROM instances WHERE study_id = $1 ORDER BY ordinal', [
    studyId,
  ]);
  return rows.map(({ header, revision, conflict }) => ({
    sopClass: sopClassName(header.sopClassUid),
    frames: header.numberOfFrames,
    revision,
    conflict,
  }));
}

async function earlierStudies(
  { key, study_id }: ListedRow,
  { database }: PageDeps,
): Promise<StudyPage['earlier']> {
  if (study_id === null) return [];
  const { rows } = await database.query<{
    key: string;
    arrived_at: Date;
    endpoint: string | null;
    state: WorklistRow['state'];
    review: WorklistRow['review'];
  }>(
    `SELECT w.key, w.arrived_at, w.endpoint, w.state,
       CASE WHEN r.withdrawal IS NOT NULL THEN 'withdrawn' ELSE coalesce(v.state, 'draft') END AS review
     FROM worklist w LEFT JOIN reviews v ON v.request_id = w.request_id
       LEFT JOIN requests r ON r.id = w.request_id
     WHERE patient = (SELECT patient FROM worklist WHERE key = $1) AND key <> $1
     ORDER BY arrived_at DESC LIMIT ${MOST_EARLIER}`,
    [key],
  );
  return rows.map(({ arrived_at, ...rest }) => ({
    ...rest,
    specialty: specialtyOf(rest.endpoint),
    arrivedAt: arrived_at.toISOString(),
  }));
}

/**
 * Returns a verdict as a role sees it: only roles that read free text see the values that rules
 * found in headers.
 */
export function shownVerdict({ conditions, ...rule }: JudgedRule, role: ConsoleRole): RuleVerdict {
  return { ...rule, conditions: conditions.map((condition) => shownCondition(condition, role)) };
}

function shownCondition(
  { condition, wanted, found, holds, parts }: JudgedCondition,
  role: ConsoleRole,
): RuleVerdict['conditions'][number] {
  const shown = {
    condition: factText(condition),
    wanted,
    found: readsFreeText(role) ? found : null,
    holds,
  };
  if (!parts) return shown;
  return { ...shown, parts: parts.map((part) => shownCondition(part, role)) };
}

/**
 * Returns a timeline entry as a role sees it. Roles that do not read free text see neither the
 * details, which may be text from peers, nor who viewed the study.
 */
function shownEntry(entry: TimelineEntry, role: ConsoleRole): TimelineEntry[] {
  if (readsFreeText(role)) return [entry];
  return entry.kind === 'looked' ? [] : [{ ...entry, detail: null }];
}
