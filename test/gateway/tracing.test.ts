import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { freePort } from '../peers/free-port.ts';
import { PYNETDICOM_INSTALLED, type PynetdicomPeer, startPynetdicom } from '../peers/pynetdicom.ts';
import {
  attribute,
  type Collector,
  type OtlpSpan,
  startCollector,
} from '../src/app/monitoring/collector.ts';
import { openSite, type Site, waitUntil } from './site.ts';

const STUDY = '1.2.3.901';
const NAME = 'UNUSUALNAME^TRACED';
const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

let collector: Collector;
let site: Site;
let url = '';
let pacs: PynetdicomPeer | null = null;
beforeAll(async () => {
  collector = await startCollector();
  const port = await freePort();
  if (PYNETDICOM_INSTALLED) {
    pacs = await startPynetdicom();
    await pacs.ask({ action: 'listen', port, title: 'PACS', answersAtOnce: true });
  }
  const node = { type: 'dicom', host: '127.0.0.1', port, aeTitle: 'PACS' };
  site = await openSite({
    tracing: { endpoint: collector.endpoint },
    destinations: [{ ...node, name: 'pacs', storageCommitment: true }],
    routing: {
      rules: [
        { name: 'onward', when: { studyDescription: 'onward' }, forwardTo: ['pacs'] },
        { name: 'all', when: { modality: 'US' }, run: { endpoint: 'us/echo/interpret' } },
      ],
    },
    // The webhook receiver is on this machine.
    outbound: {
      hosts: [{ host: 'localhost', addresses: ['127.0.0.0/8'], http: true, ports: PORTS }],
    },
  });
  url = site.gateway.http?.url ?? '';
});
afterAll(async () => {
  await site?.close();
  await pacs?.stop();
  await collector?.close();
});

/** All ports, because the receiver uses a free one. */
const PORTS = Array.from({ length: 65_535 }, (_, index) => index + 1);

const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
const nameOf = ({ name }: OtlpSpan) => name;

const send = (file: Buffer) =>
  sendBuffer(
    {
      host: '127.0.0.1',
      port: site.dicomPort,
      aeTitle: 'SONOGATE',
      callingAeTitle: 'CART',
      timeoutSeconds: 20,
    },
    file,
  );

describe('a study that arrives by DICOM', () => {
  test('is one trace from its association to its end, without identity', async () => {
    const file = dicomFile({
      sopInstanceUid: '1.2.3.901.1',
      studyInstanceUid: STUDY,
      patientName: Buffer.from(NAME),
    });
    expect((await send(file)).outcome).toBe('stored');
    const root = await waitUntil('the trace of the study', async () => {
      const found = collector.spans.find(({ name }) => name === 'study');
      return found && spansOf(found.traceId).some(({ name }) => name === 'run') ? found : null;
    });
    const names = spansOf(root.traceId).map(nameOf);
    for (const name of ['association', 'intake', 'completion', 'routing', 'submit', 'queue']) {
      expect(names, names.join()).toContain(name);
    }
    expect(attribute(root, 'sonogate.door')).toBe('dicom');
    for (const span of spansOf(root.traceId)) {
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    }
    expect(JSON.stringify(collector.spans)).not.toMatch(/UNUSUALNAME|1\.2\.3\.901/);
  });

  test.skipIf(!PYNETDICOM_INSTALLED)(
    'and is only forwarded is one trace too, up to the commitment of the PACS',
    async () => {
      const uids = { sopInstanceUid: '1.2.3.901.2.1', studyInstanceUid: '1.2.3.901.2' };
      const file = dicomFile({ ...uids, studyDescription: 'onward' });
      expect((await send(file)).outcome).toBe('stored');
      const commitment = await waitUntil('the commitment in the traces', async () => {
        return collector.spans.find(({ name }) => name === 'commitment') ?? null;
      });
      const spans = spansOf(commitment.traceId);
      expect(spans.map(nameOf).sort()).toEqual([
        'association',
        'commitment',
        'completion',
        'delivery forward',
        'intake',
        'routing',
        'study',
      ]);
      const named = (name: string) => spans.find((span) => span.name === name);
      expect(named('routing')?.parentSpanId).toBe(named('study')?.spanId);
      expect(named('delivery forward')?.parentSpanId).toBe(named('study')?.spanId);
      expect(commitment.parentSpanId).toBe(named('delivery forward')?.spanId);
      expect(JSON.stringify(spans)).not.toContain('1.2.3.901');
    },
  );
});

describe("a client's request with a traceparent", () => {
  test('is a child of that span, and its webhook continues the trace', async () => {
    const called: (string | undefined)[] = [];
    const receiver = createServer((request, response) => {
      called.push(request.headers.traceparent as string | undefined);
      response.end();
    });
    await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
    const { port } = receiver.address() as AddressInfo;
    const made = await site.gateway.run('keys.create', { name: 'traced', test: true });
    const { key } = made;
    const [file] = await new Sonogate({ url, key }).upload([import.meta.filename]);
    const answer = await fetch(`${url}/v1/run/us/echo`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`,
      },
      body: JSON.stringify({
        input: { files: [file] },
        webhook: { url: `http://localhost:${port}/hook`, events: ['request.succeeded'] },
      }),
    });
    expect(answer.status, await answer.clone().text()).toBe(202);
    const named = (name: string) =>
      waitUntil(name, async () => {
        return spansOf(CALLER.traceId).find((span) => span.name === name) ?? null;
      });
    const [root, delivery] = [await named('request'), await named('delivery webhook')];
    expect(root.parentSpanId).toBe(CALLER.spanId);
    expect(delivery.parentSpanId).toBe(root.spanId);
    expect(called).toEqual([`00-${CALLER.traceId}-${delivery.spanId}-01`]);
    receiver.close();
  });
});

test('no span is exported twice', () => {
  const ids = collector.spans.map(({ spanId }) => spanId);
  expect(new Set(ids).size).toBe(ids.length);
});
