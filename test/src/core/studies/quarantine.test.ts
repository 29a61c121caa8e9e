import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  leaveQuarantine,
  quarantine,
  quarantinedObjects,
  removeQuarantined,
  removeQuarantinedObject,
} from '../../../../src/core/studies/quarantine.ts';

const NOW = new Date('2026-11-23T12:00:00Z');
const DAY_MS = 86_400_000;
let dataDir = '';

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sonogate-data-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));
beforeEach(async () => {
  await rm(join(dataDir, 'quarantine'), { recursive: true, force: true });
  await writeFile(join(dataDir, 'object.dcm'), 'bytes');
});

const note = (at: Date) =>
  ({
    at,
    source: 'cart',
    callingAeTitle: 'VOLUSON',
    code: 'object_not_understood',
    detail: 'The header could not be read.',
  }) as const;

const idOf = (path: string) => path.replace(/^quarantine\/|\.dcm$/g, '');

test('a missing folder is an empty quarantine', async () => {
  expect(await quarantinedObjects(dataDir)).toEqual([]);
});

test('an object is listed with its size, sender and reason', async () => {
  const path = await quarantine(dataDir, 'object.dcm', note(NOW));
  expect(await readFile(join(dataDir, path), 'utf8')).toBe('bytes');
  expect(await quarantinedObjects(dataDir)).toEqual([{ id: idOf(path), bytes: 5, ...note(NOW) }]);
});

test.each([['no note'], ['a note that was cut off']])(
  'an object with %s is listed with the time of its file',
  async (what) => {
    const path = await quarantine(dataDir, 'object.dcm', note(NOW));
    const noteFile = join(dataDir, path.replace('.dcm', '.json'));
    if (what === 'no note') await rm(noteFile);
    else await writeFile(noteFile, '{"at":"2026-');
    await utimes(join(dataDir, path), NOW, NOW);
    expect(await quarantinedObjects(dataDir)).toEqual([
      {
        id: idOf(path),
        at: NOW,
        bytes: 5,
        source: null,
        callingAeTitle: null,
        code: null,
        detail: null,
      },
    ]);
    await expect(leaveQuarantine(dataDir, idOf(path), NOW)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await quarantinedObjects(dataDir)).toHaveLength(1);
  },
);

test('an object that leaves counts as an object of its source that arrives now', async () => {
  const path = await quarantine(dataDir, 'object.dcm', note(NOW));
  const later = new Date(NOW.getTime() + DAY_MS);
  const left = await leaveQuarantine(dataDir, idOf(path), later);
  expect(left).toEqual({
    path: expect.stringMatching(/^intake\/cart\/2026-11-24\/.*\.dcm$/),
    source: 'cart',
  });
  expect(await readFile(join(dataDir, left.path), 'utf8')).toBe('bytes');
  expect(await readdir(join(dataDir, 'quarantine'))).toEqual([]);
});

test('an object leaves or is removed only after this was recorded', async () => {
  const path = await quarantine(dataDir, 'object.dcm', note(NOW));
  const away = async () => {
    throw new Error('the database is away');
  };
  await expect(removeQuarantinedObject(dataDir, idOf(path), away)).rejects.toThrow('away');
  await expect(leaveQuarantine(dataDir, idOf(path), NOW, away)).rejects.toThrow('away');
  expect(await quarantinedObjects(dataDir)).toHaveLength(1);
});

test('a removed object leaves nothing behind', async () => {
  const path = await quarantine(dataDir, 'object.dcm', note(NOW));
  await removeQuarantinedObject(dataDir, idOf(path));
  expect(await readdir(join(dataDir, 'quarantine'))).toEqual([]);
});

test.each(['../object', 'object', '0198c0de-0000-7000-8000-000000000000'])(
  'an object %s is not found, and no other file is touched',
  async (id) => {
    await mkdir(join(dataDir, 'quarantine'), { recursive: true });
    await expect(removeQuarantinedObject(dataDir, id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(leaveQuarantine(dataDir, id, NOW)).rejects.toMatchObject({ code: 'not_found' });
    expect(await readdir(dataDir)).toContain('object.dcm');
  },
);

test('only what was there before the cutoff is removed, by the time in its note', async () => {
  const old = await quarantine(dataDir, 'object.dcm', note(new Date(NOW.getTime() - 1)));
  await writeFile(join(dataDir, 'object.dcm'), 'other');
  const young = await quarantine(dataDir, 'object.dcm', note(NOW));
  expect(await removeQuarantined(dataDir, NOW, true)).toBe(1);
  expect(await quarantinedObjects(dataDir)).toHaveLength(2);
  expect(await removeQuarantined(dataDir, NOW, false)).toBe(1);
  expect((await quarantinedObjects(dataDir)).map(({ id }) => id)).toEqual([idOf(young)]);
  expect(idOf(old)).not.toBe(idOf(young));
});
