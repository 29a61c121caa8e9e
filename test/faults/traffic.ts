import { setTimeout as delay } from 'node:timers/promises';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { type CartObject, cartStudies } from './cart-studies.ts';
import type { SiteUnderFault } from './site-under-fault.ts';

/** What the gateway has promised to keep: what it answered 0000H or 202 to. */
export interface Promised {
  objects: CartObject[];
  requests: string[];
}

export interface Traffic {
  promised: Promised;
  /** Resolves when everything has been acknowledged. */
  all: Promise<void>;
  /** Resolves when so much was acknowledged. */
  reached(objects: number): Promise<void>;
  remove(): Promise<void>;
}

const RETRY_MS = 700;
const PATIENCE_MS = 120_000;
const BETWEEN_STUDIES_MS = 700;

/**
 * A cart that sends studies and a client that submits, both as such machines do: what is not
 * acknowledged is sent again, the client under the same Idempotency-Key.
 */
export async function startTraffic(
  site: Pick<SiteUnderFault, 'dicomPort' | 'url' | 'key' | 'hook'>,
  label: string,
  { studies, submits }: { studies: number; submits: number },
): Promise<Traffic> {
  const cart = await cartStudies(label, studies);
  const promised: Promised = { objects: [], requests: [] };

  const sendStudies = async () => {
    for (const objects of cart.studies) {
      await sendUntilStored(site.dicomPort, objects, (object) => promised.objects.push(object));
      await delay(BETWEEN_STUDIES_MS);
    }
  };
  const submitAll = async () => {
    for (let n = 0; n < submits; n += 1) {
      promised.requests.push(await submitUntilAccepted(site, `${label} ${n}`));
      await delay(BETWEEN_STUDIES_MS / 2);
    }
  };
  const all = Promise.all([sendStudies(), submitAll()]).then(() => {});
  // Whoever waits for `reached` would otherwise never see that it failed.
  all.catch(() => {});
  return {
    promised,
    all,
    async reached(count) {
      while (promised.objects.length < count) {
        await Promise.race([delay(50), all]);
      }
    },
    remove: cart.remove,
  };
}

/** Sends what is not yet stored, again and again. */
export async function sendUntilStored(
  port: number,
  objects: readonly CartObject[],
  onStored: (object: CartObject) => void,
  host = '127.0.0.1',
): Promise<void> {
  const node = {
    host,
    port,
    aeTitle: 'SONOGATE',
    callingAeTitle: 'CART',
    timeoutSeconds: 15,
  };
  const left = new Map(objects.map((object) => [object.path, object]));
  const deadline = performance.now() + PATIENCE_MS;
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
    if (performance.now() > deadline) throw new Error('the gateway does not take objects again');
  }
}

/** Uploads and submits, each call repeated until it is answered; returns the id of the request. */
export async function submitUntilAccepted(
  { url, key, hook }: { url: string; key: string; hook: { url: string } | null },
  idempotencyKey: string,
): Promise<string> {
  const call = async <Answer>(path: string, body: object, step: string): Promise<Answer> => {
    const deadline = performance.now() + PATIENCE_MS;
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
      if (performance.now() > deadline) {
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
