import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStoredFrames } from '../../../../../src/doors/http/dicomweb/frames.ts';
import { encapsulated, SYNTAX, ultrasound } from '../../../../pipelines/input/dicom-sample.ts';
import { temporaryFolder } from '../../../../pipelines/temporary-folder.ts';

async function opened(object: Buffer) {
  const path = join(await temporaryFolder(), 'object.dcm');
  await writeFile(path, object);
  return openStoredFrames(path);
}

describe('the frames of a stored object', () => {
  it('are returned as stored, joined from their fragments', async () => {
    const fragments = ['ffd8ff', '', '01', '02'].map((hex) => Buffer.from(hex, 'hex'));
    const frames = await opened(
      ultrasound({
        syntax: SYNTAX.jpegBaseline,
        pixels: null,
        trailer: encapsulated(fragments),
      }),
    );
    expect(frames.count).toBe(1);
    expect((await frames.stored(1)).toString('hex')).toBe('ffd8ff0102');
  });

  it.each([0, -1, 20_001])(
    'cannot be sent one by one if the header announces %i of them',
    async (frames) => {
      const pixels = ['7FE00010', 'OB', Buffer.alloc(20_002)] as const;
      const object = ultrasound({ columns: 1, rows: 1, frames, pixels });
      await expect(opened(object)).rejects.toMatchObject({ code: 'not_acceptable' });
    },
  );
});
