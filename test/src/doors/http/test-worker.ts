import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimRequest } from '../../../../src/core/requests/lease.ts';
import {
  completeResult,
  putInPlace,
  saveArtifacts,
} from '../../../../src/core/requests/results.ts';
import { enterStage, transition } from '../../../../src/core/requests/transitions.ts';
import { runFolder } from '../../../../src/core/requests/work-folder.ts';
import type { Database } from '../../../../src/platform/database/port.ts';

/** Moves a request through the core's own transitions, as the worker does. */
export interface TestWorker {
  start(id: string): Promise<void>;
  stage(id: string, label: string, progress: number): Promise<void>;
  succeed(id: string, artifacts?: Record<string, string>, result?: object): Promise<void>;
  reject(id: string, detail: string): Promise<void>;
  expire(id: string): Promise<void>;
}

export function testWorker(database: Database, dataDir: string): TestWorker {
  const move = (id: string, to: Parameters<typeof transition>[2], change = {}) =>
    database.transaction((tx) => transition(tx, id, to, { at: new Date(), ...change }));

  return {
    async start(id) {
      await claimRequest(database, id, new Date());
      await move(id, 'running');
    },
    async stage(id, label, progress) {
      const stage = { name: 'inference.planes', label, progress, eta_s: null };
      await database.transaction((tx) => enterStage(tx, id, 1, stage, new Date()));
    },
    async succeed(
      id,
      artifacts = {},
      result: object = { schema: 'sonogate.result/1', version: '1.2.0' },
    ) {
      const folder = runFolder(dataDir, { id, attempts: 1 });
      await mkdir(join(folder, 'artifacts'), { recursive: true });
      await writeFile(join(folder, 'result.json'), JSON.stringify(result));
      const entries = Object.entries(artifacts).map(([name, text]) => ({
        name,
        media_type: 'application/pdf',
        bytes: Buffer.byteLength(text),
        sha256: createHash('sha256').update(text).digest('hex'),
        section: null,
      }));
      for (const [name, text] of Object.entries(artifacts)) {
        await writeFile(join(folder, 'artifacts', name), text);
      }
      const stored = await completeResult(folder, entries);
      await database.transaction(async (tx) => {
        await saveArtifacts(tx, id, stored.artifacts);
        await transition(tx, id, 'succeeded', { at: new Date() });
        await putInPlace(dataDir, id, stored.folder);
      });
    },
    async reject(id, detail) {
      await move(id, 'rejected', { fault: { code: 'no_readable_image', detail } });
    },
    async expire(id) {
      await move(id, 'expired');
    },
  };
}
