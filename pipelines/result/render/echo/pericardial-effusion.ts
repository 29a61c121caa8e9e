import {
  categoriesOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import { allOf, asHeading } from '../unit-text.ts';
import {
  type About,
  allNamed,
  type EffusionGrade,
  effusionText,
  inWords,
  valueText,
} from './shared.ts';

/** Renders views: "the PLAX and subcostal views". */
const viewsText = (views: readonly string[]): string => {
  const distinct = [...new Set(views)];
  return `the ${allOf(distinct)} ${distinct.length === 1 ? 'view' : 'views'}`;
};

const largeOutline = (large: boolean, there: string) =>
  large ? `its outline${there} is that of a large effusion` : '';

/**
 * Renders the text for an effusion that is deeper in another view than in the one where its depth
 * was measured.
 */
function deeperText({ view, large }: { view: string; large: boolean }, { about: [depth] }: About) {
  const shown = depth ? valueText('effusion-depth', depth.value) : '';
  const outline = large ? ` (${largeOutline(large, ' there')})` : '';
  return `Pericardial effusion of at least ${shown} behind the posterior wall; deeper in the ${view} view${outline}, to be measured there`;
}

const PLEURAL =
  'The space was seen only in PLAX: whether it lies anterior (pericardial) or posterior (pleural) to the descending aorta was not assessed.';

/** Statements of the decision table on tamponade ([C]; echo 13). */
const TAMPONADE_STATEMENTS = {
  'no-effusion': 'no effusion seen',
  'not-assessed': 'tamponade signs not assessed',
  'no-sign': 'effusion, no echo sign of tamponade',
  'possible-effect': 'possible haemodynamic effect; urgent clinical correlation',
  'minor-sign': 'minor sign; correlate',
  compatible: 'echo signs compatible with tamponade; urgent review',
  'raised-atrial-pressure': 'raised RA pressure; tamponade not excluded',
} as const;
export type TamponadeStatement = keyof typeof TAMPONADE_STATEMENTS;
export const tamponadeText = (statement: TamponadeStatement): string =>
  inWords(TAMPONADE_STATEMENTS, statement);

export const EFFUSION_SENTENCES = {
  'effusion.depth-not-measured': () =>
    'The depth of the echo-free space around the heart was not measured.',
  'effusion.none-outlined': ({ views }: { views: readonly string[] }) =>
    `No fluid was outlined in ${viewsText(views)}. How much fluid the model misses in patients is unknown, so an effusion is not excluded.`,
  'effusion.not-searched': () =>
    'The pericardium was not assessed: no depth was measured, and no clip was searched for fluid.',
  'effusion.possible': ({ views, large }: { views: readonly string[]; large: boolean }) =>
    `An echo-free space was outlined around the heart in ${viewsText(views)}: possibly pericardial fluid, to be checked and measured by hand${large ? `; ${largeOutline(large, '')}` : ''}.`,
  'effusion.deeper-elsewhere': (of: { view: string; large: boolean }, about: About) =>
    `${deeperText(of, about)}.`,
  'effusion.size': ({ grade, behindWall }: { grade: EffusionGrade; behindWall: boolean }) =>
    `Pericardial effusion: ${effusionText(grade)}${behindWall ? ', by its depth behind the posterior wall' : ''}.`,
  'effusion.tamponade': ({ statement }: { statement: TamponadeStatement }) =>
    `${asHeading(tamponadeText(statement))}.`,
  'effusion.may-be-pleural': () => PLEURAL,
  'effusion.greatest-not-measured': () =>
    'The effusion was not graded: its greatest depth was not measured.',
  'effusion.signs-not-assessed': () =>
    'Chamber collapse and respiratory variation were not assessed.',
  'effusion.plethora-not-assessed': () => 'IVC plethora was not assessed.',
  'effusion.plethora-at-limit': ({ limit }: { limit: number }) =>
    `IVC plethora is neither confirmed nor excluded, because the IVC collapse is at the limit of ${limit} %.`,
  'effusion.found': (
    of: {
      grade: EffusionGrade | null;
      /**
       * View in which the effusion is deeper than where it was measured; null if there is no such
       * view.
       */
      deeperIn: string | null;
      large: boolean;
      tamponade: TamponadeStatement;
      pleural: boolean;
    },
    { about }: About,
  ) => {
    const size = of.deeperIn
      ? deeperText({ view: of.deeperIn, large: of.large }, { about })
      : `${allNamed(about)}: ${of.grade ? `${effusionText(of.grade)} ` : ''}pericardial effusion`;
    return `${size}; ${tamponadeText(of.tamponade)}.${of.pleural ? ` ${PLEURAL}` : ''}`;
  },
} as const satisfies SentenceTable;

export const sayOfEffusion = statementsOf<typeof EFFUSION_SENTENCES>();

/** Scales of its classifications. */
export const EFFUSION_SCALES = {
  effusion: effusionText,
  tamponade: tamponadeText,
} as const satisfies ScaleTable;

export const categoryOfEffusion = categoriesOf<typeof EFFUSION_SCALES>();
