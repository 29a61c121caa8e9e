import { type SentenceTable, statementsOf } from '../../statement.ts';
import { everyNth } from './shared.ts';

const STRUCTURES = {
  lv: 'LV',
  myocardium: 'myocardium',
  la: 'LA',
  rv: 'RV',
  ra: 'RA',
} as const;

type Outlined = {
  view: string;
  /** False if the outlines jump from frame to frame; in that case nothing was measured. */
  steady: boolean;
  chambers: readonly (keyof typeof STRUCTURES)[];
  /** Number of outlined frames without a fault. */
  sound: number;
  outlined: number;
  /** Every `stride`-th frame of the clip was outlined. */
  stride: number;
  frames: number;
  beats: number;
};

/** Renders "A4C: LV, myocardium, LA outlined; 60 of 60 frames without a fault, 2 complete beats." */
function outlinedText({
  view,
  steady,
  chambers,
  sound,
  outlined,
  stride,
  frames,
  beats,
}: Outlined) {
  if (!steady) return `${view}: the outlines jump from frame to frame and were not measured.`;
  const every = stride > 1 ? ` (${everyNth(stride)} of ${frames})` : '';
  const whole = `${beats} complete beat${beats === 1 ? '' : 's'}`;
  const named = chambers.map((one) => STRUCTURES[one]).join(', ');
  return `${view}: ${named} outlined; ${sound} of ${outlined} frames${every} without a fault, ${whole}.`;
}

export const SEGMENT_CHAMBERS_SENTENCES = {
  'segment-chambers.outlined': outlinedText,
  'segment-chambers.no-scale': () =>
    'Areas are not reported: the image carries no spatial calibration.',
  'segment-chambers.no-right-heart': () => 'The right heart was not outlined.',
} as const satisfies SentenceTable;

export const sayOfSegmentChambers = statementsOf<typeof SEGMENT_CHAMBERS_SENTENCES>();
