import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Cine } from '../../../../../../pipelines/artifacts/display/overlay-contract.ts';
import { openCine } from '../../../../../../src/doors/console/pages/cine.ts';

afterEach(() => vi.unstubAllGlobals());

const frames = [1, 2].map((frame) => ({ frame, time: frame, offset: 0, bytes: 1 }));
const cine = { frames } as unknown as Cine;

/** Opens a cine whose file is answered with these HTTP statuses, one after the other. */
function open(...statuses: number[]) {
  const fetched = vi.fn(async () => new Response('x', { status: statuses.shift() ?? 200 }));
  vi.stubGlobal('fetch', fetched);
  vi.stubGlobal('createImageBitmap', async () => ({ close: () => {} }));
  return { pictures: openCine(cine, '/cine'), fetched };
}

describe('the file of a cine', () => {
  it('is fetched once for all frames', async () => {
    const { pictures, fetched } = open(200);
    await Promise.all([pictures.picture(1), pictures.picture(2), pictures.picture(1)]);
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(pictures.ready()).toBe(true);
  });

  it('is fetched again for the next frame if it could not be loaded', async () => {
    const { pictures, fetched } = open(503, 200);
    await expect(pictures.picture(1)).rejects.toThrow('HTTP 503');
    expect(pictures.ready()).toBe(false);
    await expect(pictures.picture(1)).resolves.toBeDefined();
    expect(fetched).toHaveBeenCalledTimes(2);
  });
});
