import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../src/errors/catalogue.ts';
import { LONGEST_HOLD_SECONDS } from '../../src/outbox/port.ts';
import type { OutgoingObject } from '../network/requestor.ts';
import { PROCESSING_FAILURE } from '../services/service-status.ts';
import { hex, refused, type StoreResult } from '../store-scu.ts';

/** What came of a call to a DICOMweb server. */
export type Answer =
  | { kind: 'answered'; status: number; retryAfter: string; body: string }
  /** `begun`: a part of the objects had left, so that the server may have them. */
  | { kind: 'lost'; begun: boolean; detail: string }
  | { kind: 'unauthorized'; detail: string };

/** Wrong credentials, and a service that is not there, are tried slowly. */
const SLOW_SECONDS = 300;

/** Statuses with a Store Instances Response (PS3.18 table 10.5.3-1): all, some or no object stored. */
const WITH_OUTCOMES: ReadonlySet<number> = new Set([200, 202, 409]);

/** Failure reasons that another form of the object may not meet (PS3.18 table 10.5.3-2, PS3.7 C). */
const UNSUPPORTED_CLASS: ReadonlySet<number> = new Set([0x0122, 0xc122]);

const sop = {
  '00081150': z.object({ Value: z.tuple([z.string()]) }).optional(),
  '00081155': z.object({ Value: z.tuple([z.string()]) }),
};
const number = z.object({ Value: z.tuple([z.coerce.number()]) }).optional();
const sequence = <Item extends z.ZodType>(item: Item) =>
  z.object({ Value: z.array(item).default([]) }).optional();

/** Store Instances Response Module (PS3.18 table 10.5.3-2) in the DICOM JSON model. */
const responseSchema = z.object({
  /** Referenced SOP Sequence, with Warning Reason (0008,1196). */
  '00081199': sequence(z.object({ ...sop, '00081196': number })),
  /** Failed SOP Sequence, with Failure Reason (0008,1197). */
  '00081198': sequence(z.object({ ...sop, '00081197': number })),
});

/** @returns the result of each object, in their order. */
export function judgeAnswer(answer: Answer, objects: readonly OutgoingObject[]): StoreResult[] {
  const all = (code: ErrorCode, detail: string, retryAfter?: number) =>
    objects.map((object) => ({ ...failed(object, code, detail), retryAfter }));
  switch (answer.kind) {
    case 'unauthorized':
      return all('peer_unauthorized', answer.detail, SLOW_SECONDS);
    case 'lost':
      return all(answer.begun ? 'peer_connection_lost' : 'peer_unreachable', answer.detail);
    case 'answered': {
      if (WITH_OUTCOMES.has(answer.status)) return outcomes(answer.status, answer.body, objects);
      const { code, wait } = meaningOf(answer);
      return all(code, `HTTP ${answer.status}`, wait);
    }
  }
}

/** Whether the server does not take the SOP class or the transfer syntax of an object. */
export function unsupportedClass(result: StoreResult | undefined): boolean {
  return (
    result?.status != null && result.outcome === 'failed' && UNSUPPORTED_CLASS.has(result.status)
  );
}

/** What the answer to a harmless call says of the server as a whole; null: it works. */
export function worksAccordingTo(answer: Answer): ErrorCode | null {
  if (answer.kind === 'lost') return 'peer_unreachable';
  if (answer.kind === 'unauthorized') return 'peer_unauthorized';
  const { code } = meaningOf(answer);
  // One that has no search (404, 501 and the like) answers all the same.
  const broken = answer.status === 429 || (answer.status >= 500 && answer.status !== 501);
  return broken || code === 'peer_unauthorized' ? code : null;
}

function meaningOf({ status, retryAfter }: Extract<Answer, { kind: 'answered' }>): {
  code: ErrorCode;
  wait?: number;
} {
  const asked = /^\d+$/.test(retryAfter)
    ? { wait: Math.min(Number(retryAfter), LONGEST_HOLD_SECONDS) }
    : {};
  if (status === 401 || status === 403) {
    return { code: 'peer_unauthorized', wait: SLOW_SECONDS, ...asked };
  }
  // A service that is not there is no fault of this object, and would meet every other one too.
  if (status === 404) return { code: 'peer_unavailable', wait: SLOW_SECONDS, ...asked };
  if ([408, 425, 429].includes(status) || status >= 500) {
    return { code: 'peer_unavailable', ...asked };
  }
  // 2xx without outcomes: not the answer of a store transaction.
  if (status < 300) return { code: 'peer_answer_unclear' };
  if (status < 400 || status === 405) return { code: 'invalid_config' };
  return { code: 'peer_refused_object' };
}

function outcomes(status: number, body: string, objects: readonly OutgoingObject[]): StoreResult[] {
  const response = parsed(body);
  const stored = new Map(
    response?.['00081199']?.Value.map((item) => [item['00081155'].Value[0], item]) ?? [],
  );
  const notStored = new Map(
    response?.['00081198']?.Value.map((item) => [item['00081155'].Value[0], item]) ?? [],
  );
  return objects.map((object): StoreResult => {
    const { sopClassUid, sopInstanceUid } = object;
    const failure = notStored.get(sopInstanceUid);
    if (failure) {
      const reason = failure['00081197']?.Value[0] ?? PROCESSING_FAILURE;
      const detail = `HTTP ${status}, failure reason ${hex(reason)}`;
      return { sopClassUid, sopInstanceUid, ...refused(reason, detail) };
    }
    const found = stored.get(sopInstanceUid);
    // Not even 200 says that an object is there: Orthanc gives it to parts that it has passed over.
    if (!found) {
      const detail = `HTTP ${status}; the object is in no list of the answer`;
      return failed(object, status === 409 ? 'peer_refused_object' : 'peer_answer_unclear', detail);
    }
    const warning = found['00081196']?.Value[0];
    const said = warning === undefined ? '' : `, warning ${hex(warning)}`;
    return {
      sopClassUid,
      sopInstanceUid,
      outcome: warning === undefined ? 'stored' : 'warning',
      status: warning ?? 0,
      code: null,
      detail: `HTTP ${status}${said}`,
    };
  });
}

function parsed(body: string): z.infer<typeof responseSchema> | null {
  try {
    const json: unknown = JSON.parse(body);
    // The JSON of one data set stands alone or as the one member of an array (PS3.18 F.2).
    return responseSchema.parse(Array.isArray(json) ? json[0] : json);
  } catch {
    return null;
  }
}

function failed(
  { sopClassUid, sopInstanceUid }: OutgoingObject,
  code: ErrorCode,
  detail: string,
): StoreResult {
  const title = detail || ERRORS[code].title;
  return { sopClassUid, sopInstanceUid, outcome: 'failed', status: null, code, detail: title };
}
