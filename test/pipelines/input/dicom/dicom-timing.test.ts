import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { type Element, ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';

const vector = (...steps: number[]): Element => ['00181065', 'DS', steps.join('\\')];
const frameTime = (ms: string): Element => ['00181063', 'DS', ms];
const pointer = (element: number): Element => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16LE(0x0018, 0);
  bytes.writeUInt16LE(element, 2);
  return ['00280009', 'AT', bytes];
};
const cineRate: Element = ['00180040', 'IS', '50'];
const displayRate: Element = ['00082144', 'IS', '20'];

async function timed(extra: Element[], frames = 3): Promise<[Clip['timing'], number[]]> {
  const pixels: Element = ['7FE00010', 'OB', Buffer.alloc(8 * frames)];
  const image = ultrasound({ frames, extra, pixels });
  const { clips } = await readStudy(await onDisk({ image }));
  const [clip] = clips;
  if (!clip) throw new Error('the sample was refused');
  return [clip.timing, clip.frames.map(({ time }) => Math.round(time * 1e6) / 1e6)];
}

describe('the time of a frame (PS3.3 C.7.6.5)', () => {
  it.each([
    ['Frame Time', [frameTime('40')], 'frame-time', [0, 0.04, 0.08]],
    ['Frame Time Vector', [vector(0, 30, 50)], 'frame-time-vector', [0, 0.03, 0.08]],
    [
      'a vector whose first step is no step',
      [vector(33, 30, 50)],
      'frame-time-vector',
      [0, 0.03, 0.08],
    ],
    ['a vector without the first frame', [vector(30, 50)], 'frame-time-vector', [0, 0.03, 0.08]],
    ['Cine Rate', [cineRate], 'cine-rate', [0, 0.02, 0.04]],
    ['Recommended Display Frame Rate', [displayRate], 'display-rate', [0, 0.05, 0.1]],
    ['nothing', [], 'none', [0, 0, 0]],
  ] as [string, Element[], Clip['timing'], number[]][])(
    'by %s',
    async (_, extra, timing, times) => {
      expect(await timed(extra)).toEqual([timing, times]);
    },
  );

  it.each([
    ['the vector that it names', 0x1065, 'frame-time-vector'],
    ['the frame time that it names', 0x1063, 'frame-time'],
  ])('the Frame Increment Pointer decides: %s', async (_, element, timing) => {
    const both = [frameTime('40'), vector(0, 30, 50), pointer(element)];
    expect((await timed(both))[0]).toBe(timing);
  });

  it.each([
    ['a slow', '400', [0, 0.4, 0.8]],
    ['a very fast', '1.5', [0, 0.0015, 0.003]],
  ])('is %s Frame Time if nothing else states the acquisition', async (_, ms, times) => {
    expect(await timed([frameTime(ms)])).toEqual(['frame-time', times]);
    expect(await timed([frameTime(ms), displayRate])).toEqual(['frame-time', times]);
  });
  it('is a Frame Time of tissue Doppler at 250 frames per second', async () => {
    expect((await timed([frameTime('4'), cineRate]))[0]).toBe('frame-time');
  });

  it.each([
    ['a vector of another length', [vector(0, 30, 50, 30, 30)]],
    ['a vector that goes backwards', [vector(0, 30, -50)]],
    ['a vector that stands still', [vector(0, 0, 0)]],
    ['words for numbers', [vector(0, Number.NaN, 3), frameTime('fast')]],
    ['a frame time of 0, as some carts write for a still', [frameTime('0')]],
    ['a negative frame time', [frameTime('-40')]],
    ['a frame time of 0.4 s, ten times too long', [frameTime('400')]],
    ['a frame time in seconds', [frameTime('0.02')]],
  ] as [string, Element[]][])('%s is not a time: the next source is used', async (_, extra) => {
    expect((await timed([...extra, cineRate, displayRate]))[0]).toBe('cine-rate');
  });

  it('a still has no time', async () => {
    expect(await timed([frameTime('40')], 1)).toEqual(['none', [0]]);
  });
});
