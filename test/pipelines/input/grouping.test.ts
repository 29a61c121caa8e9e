import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../pipelines/contract/study.ts';
import { echoInputOf, HANDHELD_CLIPS } from '../../../pipelines/echo/handheld.ts';
import { RUN_GAP_SECONDS, runsOf } from '../../../pipelines/input/grouping.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { clip } from '../obstetric/evidence-sample.ts';
import { type Element, region, SYNTAX, ultrasound } from './dicom-sample.ts';
import { onDisk } from './on-disk.ts';

const at = (file: string, instant: number | null, changes: Partial<Clip> = {}) =>
  clip(file, { instant, ...changes });
const named = (runs: readonly (readonly Clip[])[]) =>
  runs.map((run) => run.map(({ file }) => file).join(' '));

describe('runs: by series, geometry and time', () => {
  it('stills and cines that follow one another are one run, in order of acquisition', () => {
    expect(named(runsOf([at('still', 20), at('cine', 5), at('first', 0)]))).toEqual([
      'first cine still',
    ]);
  });

  it('a pause ends a run, counted from the end of the clip before', () => {
    const cine = at('cine', 0);
    const frames = [...cine.frames, ...cine.frames.map((frame) => ({ ...frame, time: 5 }))];
    const then = (seconds: number) => named(runsOf([{ ...cine, frames }, at('next', seconds)]));
    expect(then(5 + RUN_GAP_SECONDS)).toEqual(['cine next']);
    expect(then(5.1 + RUN_GAP_SECONDS)).toEqual(['cine', 'next']);
  });

  const [first] = clip('a').regions;
  const zoomed = first ? [{ ...first, scale: { x: 0.2, y: 0.2 } }] : [];
  it.each([
    ['another series', { seriesInstanceUid: '2.25.2' }],
    ['another size of frame', { width: 640 }],
    ['another depth', { regions: zoomed }],
  ])('%s is another run', (_, changes) => {
    expect(named(runsOf([at('a', 0), at('b', 1, changes), at('c', 2)]))).toEqual(['a c', 'b']);
  });

  it('without times the instance number orders, and one geometry is one run', () => {
    const unknown = (file: string, instanceNumber: number | null) =>
      at(file, null, { instanceNumber });
    const clips = [unknown('none', null), unknown('nine', 9), unknown('two', 2)];
    expect(named(runsOf(clips))).toEqual(['two nine none']);
  });

  it('files without a header are each a run', () => {
    const still = { seriesInstanceUid: null };
    expect(named(runsOf([at('a.png', null, still), at('b.png', null, still)]))).toEqual([
      'a.png',
      'b.png',
    ]);
  });
});

const taken = (date: string | null, time: string): Element[] => [
  ...(date ? [['00080022', 'DA', date] as const] : []),
  ['00080032', 'TM', time],
];
const image = (instance: number, extra: Element[] = []) => ultrasound({ instance, extra });
const instants = (clips: readonly Clip[] = []) => clips.map(({ instant }) => instant);

describe('when an image was taken, in seconds from the first of the study', () => {
  it.each([
    ['Acquisition Date and Time', taken('20260101', '235959.5'), taken('20260102', '000001')],
    [
      'Acquisition DateTime before the rest',
      [['0008002A', 'DT', '20260101235959.5+0100'], ...taken('20200101', '10')],
      [['0008002A', 'DT', '20260102000001']],
    ],
    [
      'Content Date and Time, as ACR-NEMA wrote them',
      [
        ['00080023', 'DA', '2026.01.01'],
        ['00080033', 'TM', '23:59:59.5'],
      ],
      [
        ['00080023', 'DA', '2026.01.02'],
        ['00080033', 'TM', '00:00:01'],
      ],
    ],
  ] as [string, Element[], Element[]][])('by %s', async (_, before, after) => {
    const files = await onDisk({ late: image(1, after), early: image(2, before) });
    expect(instants((await readStudy(files)).clips)).toEqual([1.5, 0]);
  });

  it('times of day alone where a date is missing, and nothing where nothing is said', async () => {
    const files = await onDisk({
      a: image(1, taken(null, '100000')),
      b: image(2, taken('20260101', '100130')),
      c: image(3),
      d: image(4, taken('20260101', '9 o’clock')),
    });
    expect(instants((await readStudy(files)).clips)).toEqual([0, 90, null, null]);
  });

  it('of a prior is negative, so that an interval is known and no date', async () => {
    const [current, prior] = await onDisk({
      current: image(1, taken('20260108', '10')),
      prior: image(2, taken('20260101', '10')),
    });
    if (!current || !prior) throw new Error('the samples were not written');
    const study = await readStudy([current], { priors: [prior] });
    expect(instants(study.clips)).toEqual([0]);
    expect(instants(study.priors)).toEqual([-7 * 86_400]);
    expect(JSON.stringify(study)).not.toContain('2026');
  });
});

describe('each image counts once', () => {
  it('the same object again, in another transfer syntax', async () => {
    const files = await onDisk({
      a: image(1),
      b: ultrasound({ instance: 1, syntax: SYNTAX.implicit }),
    });
    const { clips, refused, files: count } = await readStudy(files);
    expect(clips.map(({ file }) => file)).toEqual(['a']);
    expect(refused).toEqual([{ file: 'b', reason: 'duplicate of a: the same SOP Instance UID' }]);
    expect(count).toBe(2);
  });

  it('an object that took the identifier of another says so', async () => {
    const pixels: Element = ['7FE00010', 'OB', Buffer.alloc(8, 5)];
    const files = await onDisk({ a: image(1), b: ultrasound({ instance: 1, pixels }) });
    const { refused } = await readStudy(files);
    expect(refused[0]?.reason).toContain('though the pixels differ');
  });

  it('the same pixels under another identifier', async () => {
    const pixels: Element = ['7FE00010', 'OB', Buffer.alloc(8, 5)];
    const [a, b] = [1, 2].map((instance) => ultrasound({ instance, pixels }));
    const { refused } = await readStudy(await onDisk({ a: a ?? '', b: b ?? '' }));
    expect(refused).toEqual([{ file: 'b', reason: 'duplicate of a: the same image' }]);
  });

  it('two cines with one first frame are two', async () => {
    const cine = (instance: number, last: number): Buffer => {
      const pixels: Element = [
        '7FE00010',
        'OB',
        Buffer.concat([Buffer.alloc(8), Buffer.alloc(8, last)]),
      ];
      return ultrasound({ instance, frames: 2, pixels });
    };
    const { clips } = await readStudy(
      await onDisk({ a: cine(1, 7), b: cine(2, 8), c: cine(3, 7) }),
    );
    expect(clips.map(({ file }) => file)).toEqual(['a', 'b']);
  });

  it('a prior that is an image of the study is none', async () => {
    const files = await onDisk({ a: image(1), again: image(1), old: image(2) });
    const study = await readStudy(files.slice(0, 1), { priors: files.slice(1) });
    expect(study.priors?.map(({ file }) => file)).toEqual(['old']);
    expect(study.refused[0]).toMatchObject({ file: 'again' });
    expect(study.files).toBe(1);
  });

  it('a prior is read and calibrated like any image', async () => {
    const old = ultrasound({ instance: 2, regions: [region()] });
    const [current, prior] = await onDisk({ current: image(1), old });
    if (!current || !prior) throw new Error('the samples were not written');
    const { priors } = await readStudy([current], { priors: [prior] });
    expect(priors?.[0]?.regions[0]?.source).toBe('region');
  });
});

describe('handheld clips (1 to 5 videos)', () => {
  const frames = [...clip('a').frames, ...clip('a').frames];
  const video = (n: number) =>
    clip(`${n}.mp4`, { sopInstanceUid: null, timing: 'container', frames });
  const videos = (count: number) => Array.from({ length: count }, (_, n) => video(n));

  it.each([
    [0, 'none'],
    [HANDHELD_CLIPS.least, 'handheld'],
    [HANDHELD_CLIPS.most, 'handheld'],
    [HANDHELD_CLIPS.most + 1, 'none'],
  ])('%i videos are %s', (count, kind) => {
    expect(echoInputOf(videos(count)).kind).toBe(kind);
  });

  it('a DICOM object makes it a study, whatever lies beside it', () => {
    expect(echoInputOf([...videos(9), clip('a.dcm')]).kind).toBe('study');
  });

  it('a picture without motion is neither', () => {
    const still = clip('a.png', { sopInstanceUid: null });
    expect(echoInputOf([still])).toMatchObject({
      kind: 'none',
      reason: expect.stringContaining('neither a DICOM image nor a video'),
    });
  });
});
