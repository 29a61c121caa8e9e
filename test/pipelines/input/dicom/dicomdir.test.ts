import { existsSync } from 'node:fs';
import { cp, readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Study } from '../../../../pipelines/contract/study.ts';
import { takeDicomdirs } from '../../../../pipelines/input/dicom/dicomdir.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { zipOf } from '../archive-sample.ts';
import { dicomFile, type Element, SYNTAX, ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';

interface Listed {
  path: string;
  uid?: string;
}

/**
 * Encodes a DICOMDIR that lists these files. Like real ones, it contains a patient's name (PS3.3
 * F.3).
 */
function dicomdir(listed: readonly Listed[], syntax: string = SYNTAX.explicit): Buffer {
  const patient: Element[] = [
    ['00041430', 'CS', 'PATIENT'],
    ['00100010', 'PN', 'Beispiel^Zoe'],
  ];
  const images = listed.map(({ path, uid }): Element[] => [
    ['00041430', 'CS', 'IMAGE'],
    ['00041500', 'CS', path],
    ...(uid ? [['00041511', 'UI', uid] as const] : []),
  ]);
  return dicomFile(syntax, [
    ['00041130', 'CS', 'SET'],
    ['00041220', 'SQ', [patient, ...images]],
  ]);
}

async function readZip(files: Readonly<Record<string, Buffer>>): Promise<Study> {
  const unpackTo = join(await temporaryFolder(), 'unpacked');
  return readStudy(await onDisk({ 'disc.zip': zipOf(files) }), { unpackTo });
}

const missing = (file: string) => ({
  file,
  reason: 'the DICOMDIR lists this file, but it was not received with the study',
});

describe('a DICOMDIR set', () => {
  it('is read completely: listed files and others; missing ones are reported', async () => {
    const study = await readZip({
      'disc/DICOMDIR': dicomdir([{ path: 'IMAGES\\IM1' }, { path: 'IMAGES\\IM2' }]),
      'disc/IMAGES/IM1': ultrasound(),
      'disc/UNLISTED': ultrasound({ instance: 2 }),
    });
    expect(study.clips.map(({ file }) => file)).toEqual([
      'disc.zip/disc/IMAGES/IM1',
      'disc.zip/disc/UNLISTED',
    ]);
    expect(study.refused).toEqual([missing('disc.zip/disc/IMAGES/IM2')]);
    expect(study.files).toBe(2);
  });

  it('the directory itself is not an image, and its patient is not passed on', async () => {
    const study = await readStudy(await onDisk({ DICOMDIR: dicomdir([{ path: 'GONE' }]) }));
    expect(study.clips).toEqual([]);
    expect(study.refused).toEqual([missing('GONE')]);
    expect(JSON.stringify(study)).not.toContain('Beispiel');
  });

  it('names are compared without case, as media are often copied in lower case', async () => {
    const { refused } = await readZip({
      dicomdir: dicomdir([{ path: 'IMAGES\\IM1' }]),
      'images/im1': ultrasound(),
    });
    expect(refused).toEqual([]);
  });

  it('a listed file that lost its folder is found by its SOP Instance UID', async () => {
    const DICOMDIR = dicomdir([
      { path: 'IMAGES\\IM1', uid: '1.2.3.4' },
      { path: 'IMAGES\\IM2', uid: '1.2.3.5' },
      { path: 'IMAGES\\IM3' },
    ]);
    const { refused } = await readStudy(await onDisk({ DICOMDIR, image: ultrasound() }));
    expect(refused).toEqual([missing('IMAGES/IM2'), missing('IMAGES/IM3')]);
  });

  it.each([SYNTAX.implicit, SYNTAX.explicit, SYNTAX.bigEndian])('in %s', async (syntax) => {
    const DICOMDIR = dicomdir([{ path: 'A' }, { path: 'B' }], syntax);
    const { refused } = await readStudy(await onDisk({ DICOMDIR, A: ultrasound() }));
    expect(refused).toEqual([missing('B')]);
  });

  it('cut short: refused like any file, but the images next to it are read', async () => {
    const DICOMDIR = dicomdir([{ path: 'A' }]).subarray(0, -3);
    const { clips, refused } = await readStudy(await onDisk({ DICOMDIR, A: ultrasound() }));
    expect(clips.map(({ file }) => file)).toEqual(['A']);
    expect(refused.map(({ file }) => file)).toEqual(['DICOMDIR']);
  });
});

const SET = '../shared/data/dicom/dicomdir/pydicom';
const present = existsSync(SET);
if (!present) console.warn(`${SET} is absent: the real DICOMDIR set is not read`);

describe.skipIf(!present)('the DICOMDIR set of pydicom', () => {
  async function filesOf(folder: string, leave: (name: string) => boolean) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ name: relative(folder, path), path }))
      .filter(({ name }) => leave(name))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /**
   * Matches files in the folders of the three patients. Another folder contains a separate file
   * set.
   */
  const listed = (name: string) => /^\d{8}\//.test(name);

  const VARIANTS = ['DICOMDIR', 'DICOMDIR-bigEnd', 'DICOMDIR-implicit', 'DICOMDIR-reordered'];

  it.each(VARIANTS)('%s lists every file that came', async (variant) => {
    const given = await filesOf(SET, (name) => name === variant || listed(name));
    const { files, missing: gone } = await takeDicomdirs(given);
    expect(files.map(({ name }) => name)).not.toContain(variant);
    expect(files).toHaveLength(given.length - 1);
    expect(gone).toEqual([]);
  });

  it('reports each missing file', async () => {
    const copy = join(await temporaryFolder(), 'set');
    await cp(SET, copy, { recursive: true });
    const taken = '77654033/CR1/6154';
    const given = await filesOf(
      copy,
      (name) => name === 'DICOMDIR' || (listed(name) && name !== taken),
    );
    expect((await takeDicomdirs(given)).missing).toEqual([missing(taken)]);
  });

  it('in a zip: each file is refused as not ultrasound, under its name in the zip', async () => {
    const given = await filesOf(SET, (name) => name === 'DICOMDIR' || listed(name));
    const contents = await Promise.all(
      given.map(async ({ name, path }) => [name, await readFile(path)] as const),
    );
    const { clips, refused, files } = await readZip(Object.fromEntries(contents));
    expect(clips).toEqual([]);
    expect(refused).toHaveLength(given.length - 1);
    expect(files).toBe(given.length - 1);
    expect(refused.every(({ file }) => file.startsWith('disc.zip/'))).toBe(true);
    expect(refused[0]?.reason).toContain('not an ultrasound image');
  });
});
