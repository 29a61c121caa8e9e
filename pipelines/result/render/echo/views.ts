import { imageText } from '../../../contract/study.ts';
import { type SentenceTable, statementsOf } from '../../statement.ts';

export const MODES = {
  pw: 'pulsed Doppler',
  cw: 'continuous wave Doppler',
  doppler: 'spectral Doppler',
  'm-mode': 'M-mode',
  'colour-m-mode': 'colour M-mode',
  '2d': '2D',
  colour: 'colour Doppler 2D',
  spectral: 'spectral Doppler, type unknown',
  unknown: 'unknown',
} as const;

const REFUSALS = {
  'no-scale': 'the header gives no scale or no baseline',
  'no-flow': 'no flow stands out from the noise',
  'no-beats': 'no complete beat is seen',
  'no-walls': 'no moving wall could be followed',
  aliased: 'the flow wraps around the end of the scale (aliasing)',
  'cut-off': 'the flow is cut off at the end of the scale',
} as const;
export type DisplayRefusal = keyof typeof REFUSALS;

/**
 * A display that was not measured: its image, mode, flow or structure (null if unknown), and the
 * reason.
 */
interface RefusedDisplay {
  readonly [name: string]: string | number | null;
  image: number | null;
  mode: keyof typeof MODES;
  shows: string | null;
  why: DisplayRefusal;
}

const refusedText = ({ image, mode, shows, why }: RefusedDisplay) =>
  `${imageText(image)} (${shows === null ? MODES[mode] : `${shows}, ${MODES[mode]}`}): ${REFUSALS[why]}`;

/** Minimum content of a complete study; a convention of this project ([C], echo 2.9). */
const MINIMUM_SET = {
  PLAX: 'PLAX',
  PSAX: 'PSAX',
  A4C: 'A4C',
  A2C: 'A2C',
  A3C: 'A3C',
  'subcostal-ivc': 'subcostal IVC',
  'mitral-inflow': 'mitral inflow PW',
  'septal-annulus': 'septal tissue Doppler',
  'lateral-annulus': 'lateral tissue Doppler',
  lvot: 'LVOT PW',
  'aortic-valve': 'aortic valve CW',
  'tricuspid-regurgitation': 'TR CW',
} as const;
export type MinimumItem = keyof typeof MINIMUM_SET;

/** Names of views whose code is not the name in common use. */
const VIEW_TEXT: Readonly<Record<string, string>> = {
  'PSAX-AV': 'PSAX at the aortic valve',
  'PSAX-MV': 'PSAX at the mitral valve',
  'PSAX-PM': 'PSAX at the papillary muscles',
  'PSAX-AP': 'PSAX at the apex',
  'SUBCOSTAL-4C': 'subcostal four-chamber',
  'SUBCOSTAL-IVC': 'subcostal IVC',
  SUBCOSTAL: 'subcostal',
  SUPRASTERNAL: 'suprasternal',
  'A4C-RV': 'A4C of the right ventricle',
  'RV-INFLOW': 'RV inflow',
  'RV-OUTFLOW': 'RV outflow',
  other: 'another view',
};

/** Returns the display name of a cardiac view. */
export const viewText = (view: string): string => VIEW_TEXT[view] ?? view;

type Unnamed = {
  unnamed: number;
  pictures: number;
  /**
   * Images whose view was recognised with too low a confidence, with the view that they may show.
   */
  suspected: readonly { image: number | null; view: string }[];
};

interface DisputedView {
  readonly [name: string]: string | number | null;
  image: number | null;
  named: string;
  seen: string;
}

const disputeText = ({ image, named, seen }: DisputedView) =>
  `${imageText(image)} is named ${viewText(named)}, but shows ${viewText(seen)}`;

const clipsText = (unnamed: number, pictures: number) =>
  pictures === 1 ? 'the only clip' : `${unnamed} of ${pictures} clips`;

function uncertainText({ unnamed, pictures, suspected }: Unnamed): string {
  const names = suspected
    .map(({ image, view }) => `${imageText(image)} (perhaps ${viewText(view)})`)
    .join(', ');
  const which = names ? `: ${names}` : '';
  return `The view of ${clipsText(unnamed, pictures)} was not recognised reliably, and nothing was measured on ${unnamed === 1 ? 'it' : 'them'}${which}.`;
}

export const VIEWS_SENTENCES = {
  'views.no-image': () =>
    'No image was supplied: the study contains only reports from the machine.',
  'views.named': ({ views }: { views: readonly string[] }) =>
    `Views named by the machine: ${views.join(', ')}.`,
  'views.seen': ({ views }: { views: readonly string[] }) =>
    `Views seen in the images: ${views.join(', ')}.`,
  'views.by-person': ({ views }: { views: readonly string[] }) =>
    `Views named by the reader: ${views.join(', ')}.`,
  'views.modes': ({ modes }: { modes: readonly (readonly (keyof typeof MODES)[])[] }) =>
    `Modes: ${[...new Set(modes.map((of) => of.map((one) => MODES[one]).join(', ')))].join(', ')}.`,
  'views.no-model': ({ unnamed, pictures }: { unnamed: number; pictures: number }) =>
    `No permitted model recognises cardiac views; for ${clipsText(unnamed, pictures)} the header names no view, and ${unnamed === 1 ? 'it was' : 'they were'} not measured.`,
  'views.uncertain': uncertainText,
  'views.disputed': ({ disputes }: { disputes: readonly DisputedView[] }) =>
    `The header contradicts the image, and nothing was measured until a person names the view: ${disputes.map(disputeText).join('; ')}.`,
  'views.displays-refused': ({ displays }: { displays: readonly RefusedDisplay[] }) =>
    `Not measured: ${displays.map(refusedText).join('; ')}.`,
  'views.limited': ({ missing }: { missing: readonly MinimumItem[] }) =>
    `Limited study: of the minimum set for a complete study, no clip was found of ${missing.map((one) => MINIMUM_SET[one]).join(', ')}.`,
} as const satisfies SentenceTable;

export const sayOfViews = statementsOf<typeof VIEWS_SENTENCES>();
