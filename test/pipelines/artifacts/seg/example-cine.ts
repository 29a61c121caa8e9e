import type { SegmentedImage } from '../../../../pipelines/artifacts/seg/outlined-structures.ts';
import { US_MULTIFRAME } from '../example-subject.ts';

/**
 * Returns three segments on frames 2, 5 and 9 of a cine. They are random blocks that do not touch.
 */
export function cine(columns: number, rows: number, overlap = false): SegmentedImage {
  let state = 12_345;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const maskOf = (index: number) =>
    Uint8Array.from({ length: columns * rows }, (_, at) => {
      const own = Math.floor((3 * (at % columns)) / columns) === index;
      return (own || overlap) && random() < 0.5 ? 1 : 0;
    });
  return {
    source: {
      sopClassUid: US_MULTIFRAME,
      sopInstanceUid: '2.25.2002',
      seriesInstanceUid: '2.25.1112',
      file: 'cine.dcm',
      numberOfFrames: 12,
      rows,
      columns,
    },
    segments: ['Left ventricle', 'Myocardium', 'Left atrium'].map((label, index) => ({
      label,
      description: `Block ${index}`,
      category: { scheme: 'SCT', code: '123037004', meaning: 'Anatomical Structure' },
      type: { scheme: 'SCT', code: '87878005', meaning: 'Left ventricle' },
      edited: false,
      tracking: { identifier: `${label} #1`, uid: `2.25.77${index}` },
      frames: [2, 5, 9].map((frame) => ({ frame, pixels: maskOf(index) })),
    })),
  };
}
