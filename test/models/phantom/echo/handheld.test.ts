import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { handheldClip } from '../../../../models/phantom/echo/handheld.ts';
import { ECHO_VIEWS } from '../../../../models/phantom/echo/views.ts';
import { createHeart } from '../../../../models/phantom/heart/heart.ts';
import { drawHeart } from '../../../../models/phantom/heart/sizes.ts';
import { createRandom } from '../../../../models/phantom/random.ts';
import { decodeToRgb, FFMPEG_INSTALLED } from '../../../peers/ffmpeg.ts';

const folder = mkdtempSync(join(tmpdir(), 'phantom-clip-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!FFMPEG_INSTALLED)('a handheld clip', () => {
  it('is read by another program frame by frame, with the image that was put in', async () => {
    const heart = createHeart(drawHeart(createRandom(1), { ejectionFraction: 0.6 }));
    const screen = { columns: 160, rows: 128 };
    const frames = ECHO_VIEWS.PLAX.simulate({ heart, seed: 2, frames: 4, screen, masks: false });
    const path = join(folder, 'clip.mp4');
    writeFileSync(path, await handheldClip(frames, 30));
    const rgb = await decodeToRgb(path);
    const pixels = screen.columns * screen.rows;
    expect(rgb.length).toBe(frames.length * pixels * 3);
    for (const [index, { gray }] of frames.entries()) {
      let difference = 0;
      for (let i = 0; i < pixels; i++) {
        difference += Math.abs((rgb[3 * (index * pixels + i)] ?? 0) - (gray[i] ?? 0));
      }
      expect(difference / pixels).toBeLessThan(12);
    }
  });
});
