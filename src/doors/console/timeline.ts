import { withdrawalText } from '../../../pipelines/contract/withdrawal.ts';
import { TO_CLIENTS } from '../../core/outbox/delivery.ts';
import type { MergeDecision } from '../../core/patients/merges.ts';
import type { EventRecord } from '../../core/requests/events.ts';
import type { CompletionSignal } from '../../core/studies/completion.ts';
import type {
  ConditionVerdict as JudgedCondition,
  RuleVerdict as JudgedRule,
} from '../../core/studies/rules/route.ts';
import { factText } from '../../core/studies/rules/rule-words.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { catalogueEntry, type ErrorCode } from '../../platform/errors/catalogue.ts';
import type { TimelineEntry } from './contract.ts';
import { deliveredSubject, deliveredText, destinationText } from './pages/object-names.ts';
import { interpretationText } from './wording.ts';

/** A study's stored history, table by table. */
export interface Traces {
  study: {
    calling_ae_title: string;
    called_ae_title: string;
    source: string;
    first_received_at: Date;
  } | null;
  history: {
    at: Date;
    state: string;
    revision: number;
    complete_because: string;
    reason: string | null;
  }[];
  submitted: { at: Date; rule: string; endpoint: string }[];
  rules: readonly JudgedRule[];
  events: (EventRecord & { at: Date })[];
  deliveries: {
    request_id: string | null;
    object: string;
    destination: string;
    state: string;
    code: ErrorCode | null;
    detail: string | null;
    not_sent: boolean;
    result_revision: number;
    created_at: Date;
    ended_at: Date | null;
    committed_at: Date | null;
  }[];
  holds: {
    at: Date;
    action: string;
    person: string;
    reason: string | null;
  }[];
  acknowledged: { at: Date; person: string }[];
  /** Changes in the reviews, and signatures, oldest first. */
  changes: { at: Date; author: string; request_id: string }[];
  signatures: { at: Date; observer: string; statement: string | null }[];
  audit: {
    at: Date;
    action: string;
    actor: string;
    /** The page or command that showed an identity. */
    where: string | null;
    changed: string | null;
    /** Why a person closed a delivery. */
    reason: string | null;
    /** Destination of the delivery that a person sent again, diverted or closed. */
    destination: string | null;
    /** The patient ID chosen when a person released a study whose patient may have been merged. */
    under: MergeDecision | null;
  }[];
}

type Entry = Omit<TimelineEntry, 'at'> & { at: Date };

/** Text after "Complete:" that explains why a study counts as complete. */
const BECAUSE: Readonly<Record<CompletionSignal, string>> = {
  'quiet-time': 'nothing more arrived during the quiet time of its source',
  'association-release': 'the sender released its association',
  'performed-procedure': 'the modality reported the procedure step as completed (MPPS)',
  'instance-availability': 'a PACS notified the gateway that it has the study',
  'expected-count': 'all objects in the PACS have arrived',
  command: 'a person ended the wait',
  rerun: 'a person requested another interpretation',
};

const STUDY_STATES: Readonly<Record<string, { kind: Entry['kind']; title: string }>> = {
  held: { kind: 'held', title: 'Held for a decision' },
  unrouted: { kind: 'refused', title: 'No routing rule matched' },
  ignored: { kind: 'routed', title: 'Ignored by a rule' },
  refused: { kind: 'refused', title: 'Refused by the endpoint' },
  routed: { kind: 'routed', title: 'Routed, with nothing to interpret' },
};

const STATUS_TITLES: Readonly<Record<string, string>> = {
  queued: 'Queued',
  preparing: 'Processing started',
  running: 'Interpretation started',
  succeeded: 'Result ready',
  failed: 'Failed',
  canceled: 'Cancelled',
  rejected: 'Rejected',
  expired: 'Result purged at the end of its retention',
};

/** Titles of changes made by people or by HL7 messages, keyed by the action in the audit trail. */
const CHANGES: Readonly<Record<string, string>> = {
  'study.complete': 'Waiting ended',
  'study.hold': 'Held',
  'study.release': 'Released',
  'study.rerun': 'Another interpretation requested',
  'patient.update': 'Patient corrected by HL7',
  'patient.unlike': 'Change by HL7 not applied: may be another person',
  'patient.merge': 'Patient merged with another by HL7',
  'request.cancel': 'Cancelled',
  'delivery.replay': 'Delivery sent again',
  'delivery.divert': 'Delivery diverted to another destination',
  'delivery.close': 'Delivery closed',
};

const RELEASED_UNDER: Readonly<Record<MergeDecision, string>> = {
  'surviving-id': 'Under the surviving patient ID',
  'own-id': 'Under its own patient ID',
};

/**
 * Milliseconds within which repeated views by one person are shown as one entry. One person's
 * changes to a review are grouped in the same way.
 */
const ONE_LOOK_MS = 3_600_000;

/** Returns the timeline of a study's stored history, oldest first. */
export function timelineOf(traces: Traces): TimelineEntry[] {
  const entries = [
    ...ofStudy(traces),
    ...ofRules(traces),
    ...traces.events.flatMap(ofEvent),
    ...traces.deliveries.flatMap(ofDelivery),
    ...traces.holds.map(ofHold),
    ...traces.acknowledged.map(({ at, person }) =>
      entry(at, 'changed', 'Critical flags acknowledged', { actor: person }),
    ),
    ...ofReview(traces),
    ...ofAudit(traces),
  ];
  return entries
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
    .map(({ at, ...rest }) => ({ at: at.toISOString(), ...rest }));
}

function entry(
  at: Date,
  kind: Entry['kind'],
  title: string,
  more: Partial<Omit<Entry, 'at' | 'kind' | 'title'>> = {},
): Entry {
  return {
    at,
    kind,
    title,
    detail: null,
    actor: null,
    ...more,
  };
}

function ofStudy({ study, history }: Traces): Entry[] {
  if (!study) return [];
  const from = `${study.calling_ae_title} to ${study.called_ae_title}, source ${study.source}`;
  // The clocks of database and gateway can differ, so the first object may seem to have arrived
  // after later events. It is then shown with the time of the earliest event.
  const began = Math.min(
    study.first_received_at.getTime(),
    ...history.map(({ at }) => at.getTime()),
  );
  const first = entry(new Date(began), 'received', 'First object received', {
    detail: from,
    actor: study.calling_ae_title,
  });
  const later = history.flatMap((row, n): Entry[] => {
    const before = history[n - 1];
    const known = STUDY_STATES[row.state];
    if (known) return [entry(row.at, known.kind, known.title, { detail: row.reason })];
    if (row.state === 'receiving') {
      const title = `Further objects received: revision ${row.revision}`;
      return row.revision > 1 && before?.revision !== row.revision
        ? [entry(row.at, 'received', title, { actor: study.calling_ae_title })]
        : [];
    }
    if (row.state !== 'complete') return [];
    if (before?.state === 'complete' && before.revision === row.revision) {
      return row.reason === null
        ? []
        : [
            entry(row.at, 'failed', 'Could not be processed, will be tried again', {
              detail: row.reason,
            }),
          ];
    }
    // If the study was already complete in this revision, a person has released it. The release is
    // shown from the audit trail, not here.
    const released = before?.revision === row.revision && before.state !== 'receiving';
    if (released) return [];
    const because = BECAUSE[row.complete_because as CompletionSignal] ?? row.complete_because;
    return [entry(row.at, 'completed', `Complete: ${because}`)];
  });
  return [first, ...later];
}

function ofRules({ submitted, rules }: Traces): Entry[] {
  return submitted.map(({ at, rule, endpoint }) => {
    const verdict = rules.find((judged) => judged.rule === rule);
    const met = verdict?.matches ? verdict.conditions.flatMap(metInWords).join(', ') : '';
    return entry(at, 'submitted', `Rule ${rule} requested the ${interpretationText(endpoint)}`, {
      detail: met === '' ? null : met,
    });
  });
}

/** Lists the conditions that were met, except those within `not`. */
function metInWords({ condition, found, holds, parts }: JudgedCondition): string[] {
  if (!holds || condition === 'not') return [];
  return parts ? parts.flatMap(metInWords) : [`${factText(condition)}: ${found || 'none'}`];
}

function ofEvent({ at, ...event }: Traces['events'][number]): Entry[] {
  switch (event.name) {
    case 'status': {
      const { status } = event.data;
      const kind = status === 'succeeded' ? 'result' : status === 'failed' ? 'failed' : 'status';
      return [entry(at, kind, STATUS_TITLES[status] ?? status)];
    }
    case 'stage':
      return [entry(at, 'stage', event.data.label)];
    case 'triage':
      return [entry(at, 'critical', event.data.display ?? 'Critical flag (purged)')];
    case 'error': {
      const { code, detail } = event.data;
      return [entry(at, 'failed', catalogueEntry(code).title, { detail })];
    }
    case 'withdrawn': {
      const { by: actor } = event.data;
      const detail = withdrawalText(event.data);
      return [entry(at, 'changed', 'Result withdrawn', { detail, actor })];
    }
    default:
      return [];
  }
}

function ofDelivery(delivery: Traces['deliveries'][number]): Entry[] {
  const { request_id, object, result_revision: signedRevision, state, code, detail } = delivery;
  const sent = { object, signedRevision };
  const what = request_id === null ? 'Received object' : deliveredSubject(sent);
  const destination = destinationText(delivery.destination);
  const waits = `${what} is waiting for delivery to ${destination}`;
  const made = entry(delivery.created_at, 'delivery', waits);
  const ended = delivery.ended_at;
  const end: Entry[] = [];
  if (ended && state === 'delivered' && delivery.not_sent) {
    end.push(entry(ended, 'delivery', `${what} not sent to ${destination}`, { detail }));
  } else if (ended && state === 'delivered') {
    const by = { detail, actor: destination };
    end.push(entry(ended, 'delivered', `${what} accepted by ${destination}`, by));
  }
  if (ended && (state === 'dead' || state === 'closed')) {
    const why = code ? catalogueEntry(code).title : 'Delivery failed';
    end.push(entry(ended, 'failed', `${what} to ${destination}: ${why}`, { detail }));
  }
  if (ended && state === 'diverted') {
    end.push(entry(ended, 'changed', `${what} diverted from ${destination}`));
  }
  if (delivery.committed_at) {
    const committed = `${destination} committed to storing ${deliveredText(sent)}`;
    end.push(entry(delivery.committed_at, 'committed', committed, { actor: destination }));
  }
  return [made, ...end];
}

const HOLD_TITLES: Readonly<Record<string, string>> = {
  show: 'Held report viewed',
  release: 'Patient confirmed, report released',
  reject: 'Report rejected',
};

function ofHold({ at, action, person, reason }: Traces['holds'][number]) {
  return entry(at, action === 'show' ? 'looked' : 'changed', HOLD_TITLES[action] ?? action, {
    actor: person,
    detail: reason,
  });
}

/** Returns an entry for each signature, and one for all changes that a person made within an hour. */
function ofReview({ changes, signatures }: Traces): Entry[] {
  const sittings: { at: Date; author: string; request_id: string; count: number }[] = [];
  for (const change of changes) {
    const { at, author, request_id } = change;
    const own = sittings.findLast((one) => one.author === author && one.request_id === request_id);
    if (own && at.getTime() - own.at.getTime() < ONE_LOOK_MS) own.count += 1;
    else sittings.push({ ...change, count: 1 });
  }
  return [
    ...sittings.map(({ at, author: actor, count }) =>
      entry(at, 'changed', count === 1 ? 'Reviewed: 1 change' : `Reviewed: ${count} changes`, {
        actor,
      }),
    ),
    ...signatures.map(({ at, observer: actor, statement: detail }) =>
      entry(at, 'result', 'Signed', { actor, detail }),
    ),
  ];
}

function ofAudit({ audit }: Traces): Entry[] {
  const lastLook = new Map<string, number>();
  return audit.flatMap(({ at, action, actor, where, ...row }): Entry[] => {
    const title = CHANGES[action];
    if (title) {
      const detail = row.under ? RELEASED_UNDER[row.under] : (row.changed ?? row.reason);
      const { destination: to } = row;
      const named = to ? title.replace('Delivery', `Delivery to ${destinationText(to)}`) : title;
      return [entry(at, 'changed', named, { actor, detail })];
    }
    if (action !== 'identity.view') return [];
    const last = lastLook.get(actor);
    if (last !== undefined && at.getTime() - last < ONE_LOOK_MS) return [];
    lastLook.set(actor, at.getTime());
    return [entry(at, 'looked', 'Identity viewed', { actor, detail: where })];
  });
}

/** Maximum number of entries of one kind. Nobody would read more. */
const MOST = 500;

/**
 * Reads the stored history of a study, or of a single request without a study: at most `MOST`
 * entries of each kind.
 * @param requestIds all requests of the study.
 */
export async function readTraces(
  database: Queryable,
  {
    studyId,
    requestIds,
    rules,
  }: { studyId: string | null; requestIds: readonly string[]; rules: readonly JudgedRule[] },
): Promise<Traces> {
  const rowsOf = async <Row extends object>(text: string, values: readonly unknown[]) =>
    (await database.query<Row>(text, values)).rows;
  const [study] = await rowsOf<NonNullable<Traces['study']>>(
    `SELECT calling_ae_title, called_ae_title, source, first_received_at FROM studies
     WHERE id = $1::uuid`,
    [studyId],
  );
  return {
    study: study ?? null,
    rules,
    history: await rowsOf(
      `SELECT at, state, revision, complete_because, reason FROM study_history
       WHERE study_id = $1::uuid ORDER BY id LIMIT ${MOST}`,
      [studyId],
    ),
    submitted: await rowsOf(
      `SELECT least(s.submitted_at, r.created_at) AS at, s.rule, r.endpoint
       FROM study_requests s JOIN requests r ON r.id = s.request_id
       WHERE s.study_id = $1::uuid ORDER BY 1 LIMIT ${MOST}`,
      [studyId],
    ),
    events: await rowsOf(
      `SELECT name, data, at FROM request_events
       WHERE request_id = ANY ($1::text[]) AND name IN ('status', 'stage', 'triage', 'error', 'withdrawn')
       ORDER BY at, seq LIMIT ${MOST}`,
      [requestIds],
    ),
    deliveries: await rowsOf(
      `SELECT request_id, object, destination, state, code, detail, not_sent, result_revision,
         created_at, ended_at, committed_at
       FROM deliveries WHERE kind NOT IN ${TO_CLIENTS} AND (request_id = ANY ($1::text[])
         OR (request_id IS NULL AND object IN
           (SELECT id::text FROM instances WHERE study_id = $2::uuid)))
       ORDER BY request_id IS NULL, id LIMIT ${MOST}`,
      [requestIds, studyId],
    ),
    holds: await rowsOf(
      `SELECT at, action, person, reason FROM hold_actions
       WHERE request_id = ANY ($1::text[]) ORDER BY id LIMIT ${MOST}`,
      [requestIds],
    ),
    acknowledged: await rowsOf(
      'SELECT at, person FROM triage_acknowledgements WHERE request_id = ANY ($1::text[])',
      [requestIds],
    ),
    changes: await rowsOf(
      `SELECT at, author, request_id FROM review_changes WHERE request_id = ANY ($1::text[])
       ORDER BY at LIMIT ${MOST}`,
      [requestIds],
    ),
    signatures: await rowsOf(
      `SELECT at, observer, statement FROM review_signatures
       WHERE request_id = ANY ($1::text[]) ORDER BY at LIMIT ${MOST}`,
      [requestIds],
    ),
    // Two queries, each with its own limit, because there can be far more views than changes.
    audit: [
      ...(await auditedOf(database, studyId, requestIds, Object.keys(CHANGES))),
      ...(await auditedOf(database, studyId, requestIds, ['identity.view'])),
    ],
  };
}

/** Returns the first `MOST` audited actions of these kinds that succeeded, oldest first. */
async function auditedOf(
  database: Queryable,
  studyId: string | null,
  requestIds: readonly string[],
  actions: readonly string[],
): Promise<Traces['audit']> {
  const { rows } = await database.query<Traces['audit'][number]>(
    `SELECT a.at, a.action, a.detail ->> 'where' AS where,
       a.detail ->> 'changed' AS changed, a.detail ->> 'under' AS under, a.detail ->> 'reason' AS reason,
       coalesce(substring(a.actor FROM '^(?:person|node):(.*)$'), a.actor, k.name, a.key_id, '') AS actor,
       d.destination
     FROM audit a LEFT JOIN api_keys k ON k.id = a.key_id
       LEFT JOIN deliveries d ON d.id = coalesce(a.detail ->> 'delivery', a.detail ->> 'id')
     WHERE (a.study_id = $1::uuid OR a.request_id = ANY ($2::text[]))
       AND a.action = ANY ($3::text[])
       AND (a.outcome IS NULL OR a.outcome = 'success') AND (a.status IS NULL OR a.status < 400)
     ORDER BY a.id LIMIT ${MOST}`,
    [studyId, requestIds, actions],
  );
  return rows;
}
