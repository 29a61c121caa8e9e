import { setTimeout as delay } from 'node:timers/promises';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { type CartObject, cartStudies } from './cart-studies.ts';
import type { SiteUnderFault } from './site-under-fault.ts';

/** What the gateway has promised to keep by responding with 0000H or 202. */
export interface Promised {
  objects: CartObject[];
  requests: string[];
}

export interface Traffic {
  promised: Promised;
  /** Starts no further studies or submits; those already started continue. */
  finish(): void;
  /** Resolves when everything that was started has been acknowledged. */
  all: Promise<void>;
  /** Resolves when this many objects have been acknowledged. */
  reached(objects: number): Promise<void>;
  remove(): Promise<void>;
}

/** Number of studies and submits, and the pause of a cart between two studies. */
export interface Amount {
  studies: number;
  submits: number;
  pauseMs?: number;
  /**
   * The traffic lasts until `finish`. Carts and clients do not give up before then, because the
   * gateway may hardly be running.
   */
  untilFinished?: boolean;
}

/** How long a cart or client repeats whatever is not acknowledged. */
interface Patience {
  ended(): boolean;
}

const RETRY_MS = 700;
const PATIENCE_MS = 240_000;

function patience(milliseconds = PATIENCE_MS): Patience {
  const deadline = performance.now() + milliseconds;
  return { ended: () => performance.now() > deadline };
}

const BETWEEN_STUDIES_MS = 700;

/**
 * Starts a cart that sends studies and a client that submits. As in reality, both repeat whatever
 * is not acknowledged; the client reuses its Idempotency-Key.
 */
export async function startTraffic(
  site: Pick<SiteUnderFault, 'dicomPort' | 'url' | 'key' | 'hook'>,
  label: string,
  { studies, submits, pauseMs = BETWEEN_STUDIES_MS, untilFinished = false }: Amount,
): Promise<Traffic> {
  const cart = await cartStudies(label, studies);
  const promised: Promised = { objects: [], requests: [] };
  let finished = false;
  let afterwards: Patience | null = null;
  const lasting: Patience = { ended: () => afterwards?.ended() ?? false };
  const patienceNow = () => (untilFinished ? lasting : patience());

  const sendStudies = async () => {
    for (const objects of cart.studies) {
      if (finished) return;
      const onStored = (object: CartObject) => promised.objects.push(object);
      await sendUntilStored(site.dicomPort, objects, onStored, patienceNow());
      await delay(pauseMs);
    }
  };
  const submitAll = async () => {
    for (let n = 0; n < submits && !finished; n += 1) {
      promised.requests.push(await submitUntilAccepted(site, `${label} ${n}`, patienceNow));
      await delay(pauseMs / 2);
    }
  };
  const all = Promise.all([sendStudies(), submitAll()]).then(() => {});
  // Callers of `all` and `reached` receive the failure; this only prevents an unhandled rejection.
  all.catch(() => {});
  return {
    promised,
    finish() {
      finished = true;
      afterwards = patience();
    },
    all,
    async reached(count) {
      while (promised.objects.length < count) {
        await Promise.race([delay(50), all]);
      }
    },
    remove: cart.remove,
  };
}

/** Sends the objects that are not stored yet, until all of them are stored. */
export async function sendUntilStored(
  port: number,
  objects: readonly CartObject[],
  onStored: (object: CartObject) => void,
  limit: Patience = patience(),
): Promise<void> {
  const node = {
    host: '127.0.0.1',
    port,
    aeTitle: 'SONOGATE',
    callingAeTitle: 'CART',
    timeoutSeconds: 15,
  };
  const left = new Map(objects.map((object) => [object.path, object]));
  while (left.size > 0) {
    await sendFiles(node, [...left.keys()], {
      onResult(path, { outcome }) {
        const object = left.get(path);
        if (outcome !== 'stored' || !object) return;
        left.delete(path);
        onStored(object);
      },
    }).catch(() => {});
    if (left.size > 0) await delay(RETRY_MS);
    if (limit.ended()) throw new Error('the gateway does not take objects again');
  }
}

/**
 * Uploads and submits, repeating each HTTP request until it is answered. Returns the id of the
 * request.
 */
export async function submitUntilAccepted(
  { url, key, hook }: { url: string; key: string; hook: { url: string } | null },
  idempotencyKey: string,
  patienceNow: () => Patience = patience,
): Promise<string> {
  const call = async <Answer>(path: string, body: object, step: string): Promise<Answer> => {
    const limit = patienceNow();
    for (;;) {
      const answer = await fetch(new URL(path, url), {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': `${idempotencyKey} ${step}`,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(15_000),
      }).catch(() => null);
      if (answer?.ok) return (await answer.json()) as Answer;
      if (limit.ended()) {
        throw new Error(`${path} is not served again: ${await answer?.text()}`);
      }
      await delay(RETRY_MS);
    }
  };
  const bytes = 'no image: the mock backend does not open it';
  interface Announced {
    file: { id: string };
    upload: { url: string };
    complete_url: string;
  }
  const announced = { filename: 'scan.dcm', bytes: bytes.length, media_type: 'application/dicom' };
  const upload = await call<Announced>('/v1/uploads', announced, 'upload');
  for (;;) {
    const put = await fetch(upload.upload.url, { method: 'PUT', body: bytes }).catch(() => null);
    if (put?.ok || put?.status === 409) break;
    await delay(RETRY_MS);
  }
  await call(new URL(upload.complete_url, url).pathname, {}, 'complete');
  const body = { input: { files: [upload.file.id] }, ...(hook && { webhook: { url: hook.url } }) };
  return (await call<{ id: string }>('/v1/run/us/obstetric', body, 'submit')).id;
}
