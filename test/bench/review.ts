/**
 * How quickly a result follows a reader's changes: `node test/bench/review.ts [--rounds 10] [--only
 * echo]`. The whole gateway on its embedded database reads both phantom studies; then `PATCH
 * …/review` enters one value after another in an open study. Prints the median and longest request
 * time, its processor time, and the machine's load, and writes nothing else.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { type DemoStudyName, phantomStudy } from '../../src/app/demo/phantom-studies.ts';
import type { RequestRow } from '../../src/core/requests/request.ts';
import type { ReviewObject } from '../../src/core/reviews/reviews.ts';
import { endOfStudy, openSite, type Site } from '../gateway/site.ts';
import { printTable } from './receivers.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    only: { type: 'string' },
  },
});
const STUDIES = ['obstetric', 'echo'] as const satisfies DemoStudyName[];
const ROUNDS = Number(options.rounds);

async function read(site: Site, name: DemoStudyName): Promise<string> {
  const study = await phantomStudy(name, 1);
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-review-'));
  try {
    const paths = study.files.map((file) => join(folder, file.name));
    for (const [at, { bytes }] of study.files.entries()) await writeFile(paths[at] ?? '', bytes);
    const node = {
      host: '127.0.0.1',
      port: site.dicomPort,
      aeTitle: site.config.dicom.aeTitle,
      callingAeTitle: 'BENCH',
      timeoutSeconds: 60,
    };
    await sendFiles(node, paths);
    const row = await ended(site, study.studyInstanceUid);
    if (row.status !== 'succeeded') throw new Error(`the request ended as ${row.status}`);
    return row.id;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reading both studies takes minutes on a busy machine. */
const PATIENCE_ROUNDS = 10;

async function ended(site: Site, studyUid: string, rounds = PATIENCE_ROUNDS): Promise<RequestRow> {
  try {
    return await endOfStudy(site, studyUid);
  } catch (error) {
    if (rounds === 0) throw error;
    return ended(site, studyUid, rounds - 1);
  }
}

interface Call {
  milliseconds: number;
  processor: number;
}

/** Times a series of changes, each of which selects a different value measured on the images. */
async function changes(site: Site, key: string, id: string): Promise<Call[]> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const url = `${site.gateway.http?.url}/v1/requests/${id}/review`;
  let review = (await (await fetch(url, { headers })).json()) as ReviewObject;
  const values = Object.values(review.original).filter(
    ({ standing, origin, inputs }) =>
      standing === 'counts' && origin === 'image' && inputs.length === 0,
  );
  const calls: Call[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const one = values[round % values.length];
    if (!one) throw new Error('no value counts');
    const change = { kind: 'set-value', measurement: one.id, value: one.value * 0.99 };
    const before = process.cpuUsage();
    const begin = performance.now();
    const answer = await fetch(url, {
      method: 'PATCH',
      headers: { ...headers, 'If-Match': review.etag },
      body: JSON.stringify({ changes: [change] }),
    });
    const text = await answer.text();
    const milliseconds = performance.now() - begin;
    const { user, system } = process.cpuUsage(before);
    if (answer.status !== 200) throw new Error(text);
    review = JSON.parse(text) as ReviewObject;
    calls.push({ milliseconds, processor: (user + system) / 1000 });
  }
  return calls;
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const whole = (value: number) => Math.round(value).toString();

const site = await openSite({
  dicom: { host: '127.0.0.1', port: 0 },
  routing: {
    rules: STUDIES.map((name) => ({
      name,
      when: {
        modality: 'US',
        studyDescription: { matches: name === 'echo' ? 'echocardiogram' : 'obstetric' },
      },
      run: { endpoint: `us/${name}/interpret`, options: { report: true } },
      deliverTo: [],
    })),
  },
});
try {
  const scopes = ['read', 'review'] as const;
  const { key } = await site.gateway.run('keys.create', { name: 'Reader', scopes: [...scopes] });
  const rows: string[][] = [];
  for (const name of STUDIES.filter((one) => !options.only || one === options.only)) {
    const id = await read(site, name);
    const load = loadavg()[0] ?? 0;
    const calls = await changes(site, key, id);
    const times = calls.map(({ milliseconds }) => milliseconds);
    rows.push([
      name,
      whole(median(times)),
      whole(Math.max(...times)),
      whole(median(calls.map(({ processor }) => processor))),
      load.toFixed(1),
    ]);
  }
  printTable(['study', 'median ms', 'longest ms', 'processor ms', 'load'], rows);
} finally {
  await site.close();
}
