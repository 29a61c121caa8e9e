import { existsSync, watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Study } from '../../../pipelines/contract/study.ts';
import { unpack } from '../../../pipelines/input/archives.ts';
import { CONTAINER_LIMITS } from '../../../pipelines/input/limits.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { tarFile, zipFile, zipOf } from './archive-sample.ts';
import { ultrasound } from './dicom-sample.ts';
import { onDisk } from './on-disk.ts';

type Files = Readonly<Record<string, Buffer | string>>;

async function newFolder(): Promise<string> {
  return join(await temporaryFolder(), 'unpacked');
}

async function read(files: Files): Promise<Study> {
  return readStudy(await onDisk(files), { unpackTo: await newFolder() });
}

const namesOf = ({ clips }: Study) => clips.map(({ file }) => file);

const image = ultrasound();
/** Creates a different image for each number, because a study counts each image only once. */
const another = (instance: number) => ultrasound({ instance });

describe('archives', () => {
  it('zip, tar, tar.gz and gzip are recognized by their content, whatever their names', async () => {
    const tarOf = (content: Buffer) => tarFile([{ name: 'a/b.dcm', content }]);
    const study = await read({
      'one.dcm': zipOf({ 'a/b.dcm': image }),
      'two.zip': await tarOf(another(2)),
      three: gzipSync(await tarOf(another(3))),
      'four.tar': gzipSync(another(4)),
      'five.zip': another(5),
    });
    expect(namesOf(study)).toEqual([
      'one.dcm/a/b.dcm',
      'two.zip/a/b.dcm',
      'three/a/b.dcm',
      'four.tar',
      'five.zip',
    ]);
    expect(study.refused).toEqual([]);
    expect(study.files).toBe(5);
  });

  it('a pre-POSIX tar without the magic is a tar', async () => {
    const tar = await tarFile([{ name: 'a.dcm', content: image }]);
    const old = Buffer.from(tar);
    // Removes the eight bytes of magic and version (POSIX.1 ustar), and subtracts them from the
    // checksum.
    const sum = [...old.subarray(257, 265)].reduce((total, byte) => total + byte, 0);
    old.fill(0, 257, 265);
    const checksum = Number.parseInt(old.toString('latin1', 148, 154), 8) - sum;
    old.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    expect(namesOf(await read({ 'old.tar': old }))).toEqual(['old.tar/a.dcm']);
  });

  it('a DICOM file whose preamble looks like a zip is a DICOM file', async () => {
    const disguised = Buffer.from(image);
    disguised.write('PK\x03\x04', 0, 'latin1');
    expect(namesOf(await read({ 'image.dcm': disguised }))).toEqual(['image.dcm']);
  });

  it('pixels are decoded from the unpacked file when asked for', async () => {
    const { clips } = await read({ 'study.zip': zipOf({ 'a.dcm': image }) });
    const pixels = await clips[0]?.frames[0]?.gray();
    expect([...(pixels?.data ?? [])]).toEqual([0, 10, 20, 30, 40, 50, 60, 70]);
  });

  it('three nested archives are opened, a fourth is refused', async () => {
    const first = zipOf({ 'a.dcm': image });
    const second = await tarFile([{ name: 'first.zip', content: first }]);
    const third = zipOf({ 'second.tgz': gzipSync(second) });
    const fourth = zipOf({ 'third.zip': third, 'beside.dcm': image });
    expect(namesOf(await read({ 'third.zip': third }))).toEqual([
      'third.zip/second.tgz/first.zip/a.dcm',
    ]);
    const study = await read({ 'fourth.zip': fourth });
    expect(namesOf(study)).toEqual(['fourth.zip/beside.dcm']);
    expect(study.refused).toEqual([
      {
        file: 'fourth.zip/third.zip/second.tgz/first.zip',
        reason: 'the archive is nested in 3 others, which is too deep to be opened',
      },
    ]);
  });

  it('a gzip inside a gzip inside a gzip … ends at the same depth', async () => {
    let content = image;
    for (let level = 0; level < CONTAINER_LIMITS.nesting; level += 1) content = gzipSync(content);
    expect(namesOf(await read({ file: content }))).toEqual(['file']);
    const { refused } = await read({ file: gzipSync(content) });
    expect(refused[0]?.reason).toContain('too deep to be opened');
  });

  it('a name that the archive contains twice gets a number', async () => {
    const entries = [image, another(2)].map((content) => ({ name: 'a.dcm', content }));
    expect(namesOf(await read({ 'study.tar': await tarFile(entries) }))).toEqual([
      'study.tar/a.dcm',
      'study.tar/a.dcm (2)',
    ]);
  });

  it('thousands of members with one long name are numbered within seconds', async () => {
    const name = `${'long'.repeat(125)}.txt`;
    const members = 3000;
    const entries = Array.from({ length: members }, () => ({ name, content: 'x' }));
    const files = await onDisk({ 'study.zip': zipFile(entries) });
    const before = process.cpuUsage();
    const { files: unpacked } = await unpack(files, await newFolder());
    const { user } = process.cpuUsage(before);
    expect(unpacked.at(-1)?.name).toBe(`study.zip/${name} (${members})`);
    expect(new Set(unpacked.map((file) => file.name)).size).toBe(members);
    expect(user / 1e6).toBeLessThan(5);
  }, 120_000);

  it('the study contains no local file names, and the disk none from the archive', async () => {
    const folder = await newFolder();
    const files = await onDisk({ 'study.zip': zipOf({ '/abs/./x\n.dcm': image }) });
    const study = await readStudy(files, { unpackTo: folder });
    expect(namesOf(study)).toEqual(['study.zip/abs/x?.dcm']);
    expect(JSON.stringify(study)).not.toContain(tmpdir());
    expect(await readdir(folder)).toEqual(['0']);
  });

  it('nothing is written if there is no archive', async () => {
    const folder = await newFolder();
    await readStudy(await onDisk({ 'a.dcm': image }), { unpackTo: folder });
    expect(existsSync(folder)).toBe(false);
  });
});

describe('what is wrong in an archive is refused with a sentence, and the rest is read', () => {
  const good = { name: 'good.dcm', content: image };

  it.each([
    ['a path with ..', { name: '../../etc/passwd', content: 'x' }, 'leads out of it'],
    ['a path with ..\\', { name: '..\\x.dcm', content: 'x' }, 'leads out of it'],
    ['a link', { name: 'a', content: '/etc/passwd', mode: 0o120_777 }, 'links are not followed'],
    ['an encrypted file', { name: 'a', content: image, encrypted: true }, 'encrypted'],
    ['LZMA', { name: 'a', content: image, method: 14 }, 'method 14 is not supported'],
    ['a wrong checksum', { name: 'a', content: image, checksum: 1 }, 'checksum'],
    ['an empty file', { name: 'a', content: '' }, 'the file is empty'],
    ['a text named .dcm', { name: 'a.dcm', content: 'hello' }, 'neither DICOM nor'],
  ])('zip: %s', async (_, entry, sentence) => {
    const study = await read({ 'study.zip': zipFile([entry, good]) });
    expect(namesOf(study)).toEqual(['study.zip/good.dcm']);
    expect(study.refused).toHaveLength(1);
    expect(study.refused[0]?.file).toBe(`study.zip/${entry.name.replace('\\', '/')}`);
    expect(study.refused[0]?.reason).toContain(sentence);
    expect(study.files).toBe(2);
  });

  it.each([
    ['a path with ..', { name: 'a/../../b', content: 'x' }, 'leads out of it'],
    ['a symbolic link', { name: 'a', type: 'symlink', linkname: '/etc/passwd' }, 'links'],
    ['a hard link', { name: 'a', type: 'link', linkname: 'good.dcm' }, 'links'],
    ['a device', { name: 'a', type: 'character-device' }, 'no plain file'],
  ] as const)('tar: %s', async (_, entry, sentence) => {
    const study = await read({ 'study.tar': await tarFile([entry, good]) });
    expect(namesOf(study)).toEqual(['study.tar/good.dcm']);
    expect(study.refused.map(({ reason }) => reason)).toEqual([expect.stringContaining(sentence)]);
  });

  it('an archive cut short: the entries before the cut are read', async () => {
    const tar = await tarFile([good, { name: 'late.dcm', content: Buffer.alloc(100_000, 1) }]);
    const study = await read({ 'cut.tar': tar.subarray(0, 5_000), 'good.dcm': another(2) });
    expect(namesOf(study)).toEqual(['cut.tar/good.dcm', 'good.dcm']);
    expect(study.refused[0]?.reason).toContain('cut short or damaged');
  });

  it.each([
    ['zip', zipOf({ 'a.dcm': image }).subarray(0, 60)],
    ['gzip', gzipSync(image).subarray(0, 60)],
    ['gzip of nothing but its head', Buffer.from('1f8b08', 'hex')],
  ])('a %s that cannot be opened', async (_, content) => {
    const study = await read({ archive: content, 'good.dcm': image });
    expect(namesOf(study)).toEqual(['good.dcm']);
    expect(study.refused).toEqual([
      { file: 'archive', reason: 'the archive is cut short or damaged at this point' },
    ]);
  });

  it('an archive without a file', async () => {
    expect((await read({ 'none.zip': zipOf({ 'folder/': '' }) })).refused).toEqual([
      { file: 'none.zip', reason: 'the archive holds no file' },
    ]);
  });

  it('a zip or tar with any byte overwritten: read or refused, never thrown', async () => {
    const tar = await tarFile([good]);
    for (const whole of [zipFile([good]), tar.subarray(0, 1_024)]) {
      for (let at = 0; at < whole.length; at += 3) {
        const damaged = Buffer.from(whole);
        damaged[at] = 0xff ^ (damaged[at] ?? 0);
        const { clips, refused } = await read({ archive: damaged });
        expect(clips.length + refused.length).toBeGreaterThan(0);
      }
    }
  });
});

describe('limits of archives', () => {
  const limited = async (files: Files, limits: Partial<typeof CONTAINER_LIMITS | object>) =>
    unpack(await onDisk(files), await newFolder(), { ...CONTAINER_LIMITS, ...limits });

  it('files: at the limit all are read, over it the rest of that archive is refused once', async () => {
    const files = { 'study.zip': zipOf({ a: '1', b: '2', c: '3' }), 'late.dcm': image };
    expect((await limited(files, { members: 3 })).refused).toEqual([]);
    const { files: read, refused } = await limited(files, { members: 2 });
    expect(read.map(({ name }) => name)).toEqual(['study.zip/a', 'study.zip/b', 'late.dcm']);
    expect(refused).toEqual([
      {
        file: 'study.zip',
        reason:
          'the archives of the study hold more than 2 files; the rest of this one is not read',
      },
    ]);
  });

  it('bytes of the whole study', async () => {
    const files = {
      'one.zip': zipOf({ a: 'x'.repeat(60) }),
      'two.zip': zipOf({ b: 'y'.repeat(40) }),
    };
    expect((await limited(files, { unpackedBytes: 100 })).refused).toEqual([]);
    const { refused } = await limited(files, { unpackedBytes: 99 });
    expect(refused.map(({ file }) => file)).toEqual(['two.zip']);
    expect(refused[0]?.reason).toContain('unpack to more than 99 bytes');
  });

  it('ratio: a bomb is stopped, nested or not, and its unfinished file leaves the disk', async () => {
    const zeros = Buffer.alloc(1_000_000);
    const bomb = zipOf({ zeros });
    const folder = await newFolder();
    const { files, refused } = await unpack(
      await onDisk({ 'bomb.zip': bomb, 'outer.zip': zipOf({ 'bomb.zip': bomb }) }),
      folder,
      { ...CONTAINER_LIMITS, ratioFreeBytes: 500_000 },
    );
    expect(files).toEqual([]);
    expect(refused.map(({ file }) => file)).toEqual(['bomb.zip', 'outer.zip']);
    expect(refused[0]?.reason).toContain('more than 200 times its size');
    // Only the inner archive of a thousand bytes remains, but never its content.
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('ratio: below the free bytes, a small archive of one colour is not a bomb', async () => {
    const bomb = { 'black.zip': zipOf({ zeros: Buffer.alloc(1_000_000) }) };
    expect((await limited(bomb, { ratioFreeBytes: 1_000_000 })).refused).toEqual([]);
    expect((await limited(bomb, { ratioFreeBytes: 999_999 })).refused).toHaveLength(1);
  });

  it('disk space: checked every 8 MiB; lack of it is an error of this machine', async () => {
    const study = (bytes: number) => ({ 'study.zip': zipOf({ a: Buffer.alloc(bytes) }) });
    const noRoom = { freeBytes: Number.MAX_SAFE_INTEGER };
    const eight = 8 * 1024 ** 2;
    expect((await limited(study(eight - 1), noRoom)).refused).toEqual([]);
    await expect(limited(study(eight), noRoom)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect((await limited(study(eight), { freeBytes: 1 })).refused).toEqual([]);
  });

  it('length and depth of a path, at the limit and one over', async () => {
    const paths = { 'study.zip': zipOf({ abcd: '1', 'a/b': '2', abcde: '3', 'a/b/c': '4' }) };
    const { files, refused } = await limited(paths, { pathLength: 4, pathDepth: 2 });
    expect(files.map(({ name }) => name)).toEqual(['study.zip/abcd', 'study.zip/a/b']);
    expect(refused.map(({ file }) => file)).toEqual(['study.zip/abcde', 'study.zip/a/b/c']);
    const [byDepth] = (await limited(paths, { pathDepth: 2 })).refused;
    expect(byDepth?.reason).toBe('the path in the archive is deeper than 2 folders');
  });

  it('are the same as in docs/input.md', async () => {
    const rows = (await readFile('docs/input.md', 'utf8')).matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm);
    const documented = [...rows].map(([, name, value]) => [
      name,
      Number(value?.replaceAll(',', '')),
    ]);
    expect(Object.fromEntries(documented)).toEqual(CONTAINER_LIMITS);
  });
});

describe('canceling', () => {
  it('ends an archive within the member that is being written, and is not a refusal', async () => {
    const canceled = new AbortController();
    const content = Buffer.alloc(64 * 1024 ** 2, 1);
    const files = await onDisk({ 'study.zip': zipOf({ a: content, b: content }) });
    const folder = await newFolder();
    await mkdir(folder);
    const written = watch(folder, () => canceled.abort(new Error('canceled')));
    const unpacking = unpack(files, folder, CONTAINER_LIMITS, canceled.signal);
    await expect(unpacking).rejects.toThrow('canceled');
    written.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('before the first file reads none', async () => {
    const signal = AbortSignal.abort(new Error('canceled'));
    await expect(readStudy(await onDisk({ 'a.dcm': image }), { signal })).rejects.toThrow(
      'canceled',
    );
  });
});
