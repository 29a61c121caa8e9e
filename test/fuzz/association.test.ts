import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { decodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { associationAttack } from './association-attack.ts';
import { attack } from './attack.ts';
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.ts';

let gateway: AttackedGateway;
beforeAll(async () => {
  gateway = await startAttackedGateway();
});
afterAll(() => gateway.stop());

it('the listener survives broken and hostile peers, and keeps what good peers store meanwhile', async () => {
  const stored: string[] = [];
  const { cases, warm, end } = await attack(gateway, associationAttack(stored), {
    seconds: 8,
    seed: 20_261_121,
  });
  expect(cases).toBeGreaterThan(0);
  expect(end.sockets).toBeLessThanOrEqual(warm.sockets);
  const kept = new Set(await dataSetDigests(join(gateway.dataDir, 'intake')));
  expect(stored.filter((digest) => !kept.has(digest))).toEqual([]);
});

async function dataSetDigests(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) =>
    name.endsWith('.dcm'),
  );
  return Promise.all(
    names.map(async (name) => {
      const file = await readFile(join(folder, name));
      const { dataSetOffset } = decodeFileMeta(file);
      return createHash('sha256').update(file.subarray(dataSetOffset)).digest('hex');
    }),
  );
}
