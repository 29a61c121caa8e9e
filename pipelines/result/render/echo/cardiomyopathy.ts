import {
  categoriesOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import { inWords } from './shared.ts';

/** Statements on the thickness of a wall, in their published wording (CM23, HCM24; echo 14.1). */
const WALL_STATEMENTS = {
  'below-criterion': 'below criterion',
  'criterion-in-relatives': 'criterion only in first-degree relatives or genotype-positive',
  'meets-criterion': 'meets wall-thickness criterion',
  massive: 'meets wall-thickness criterion, massive',
} as const;
export type WallStatement = keyof typeof WALL_STATEMENTS;
export const wallText = (wall: WallStatement): string => inWords(WALL_STATEMENTS, wall);

/** Categories of outflow obstruction by the gradients at rest and on provocation (echo 14.1). */
const OBSTRUCTIONS = {
  'at-rest': 'obstructive at rest',
  'not-provoked': 'non-obstructive at rest, provocation not done',
  provocable: 'provocable (labile) obstruction',
  none: 'non-obstructive',
  'rest-not-measured': 'obstruction with provocation, rest not measured',
} as const;
/**
 * `treatment` is the gradient, mmHg, from which treatment is considered, if a gradient reaches it;
 * otherwise null.
 */
export type Obstruction = { obstruction: keyof typeof OBSTRUCTIONS; treatment: number | null };

export const obstructionText = ({ obstruction, treatment }: Obstruction): string =>
  `${inWords(OBSTRUCTIONS, obstruction)}${typeof treatment === 'number' ? `, at or above ${treatment} mmHg` : ''}`;

/**
 * Patterns of the LV, in their published wording (CM23; echo 14.3). The last four state why the
 * pattern is undetermined.
 */
const DILATED_PATTERNS = {
  dilated: 'dilated LV with systolic dysfunction',
  'non-dilated': 'non-dilated LV dysfunction',
  none: 'no dilated pattern',
  'size-unknown': 'LV dysfunction, size unknown',
  'volume-index-missing': 'LV dysfunction, not dilated by diameter; volume index not measured',
  'diameter-missing': 'LV dysfunction, not dilated by volume index; diameter not measured',
  'sex-unknown': 'LV dysfunction; whether the LV is dilated depends on the sex, which is not known',
} as const;
export type DilatedPattern = keyof typeof DILATED_PATTERNS;
export const dilatedText = (pattern: DilatedPattern): string => inWords(DILATED_PATTERNS, pattern);

/**
 * Texts for asymmetric hypertrophy. `certain`: the wall ratio is high enough in any patient.
 * `without-hypertension`: it is high enough only if the patient has no hypertension.
 */
const ASYMMETRIES = {
  certain: 'asymmetric septal hypertrophy',
  'without-hypertension':
    'asymmetric septal hypertrophy, if there is no hypertension (otherwise a ratio of 1.5 is required)',
} as const;
type Asymmetry = keyof typeof ASYMMETRIES;

const AMYLI = {
  'rules-out': 'which makes amyloid unlikely in a population screened for it',
  open: 'which neither rules amyloid out nor diagnoses it',
} as const;

export const CARDIOMYOPATHY_SENTENCES = {
  'cardiomyopathy.wall': (of: {
    walls: 1 | 2;
    /** In mm. */
    thickest: number;
    wall: WallStatement;
    meets: boolean;
  }) =>
    `${of.walls === 2 ? 'Greatest of the two measured walls' : 'The one measured wall'} ${of.thickest} mm: ${wallText(of.wall)}${of.meets ? ', if not explained by loading such as hypertension, aortic stenosis or athletic training' : ''}.`,
  'cardiomyopathy.asymmetry': ({ asymmetry }: { asymmetry: Asymmetry }) =>
    `Walls: ${ASYMMETRIES[asymmetry]}.`,
  'cardiomyopathy.dilated': ({ pattern, device }: { pattern: DilatedPattern; device: boolean }) =>
    `Dilated pattern: ${dilatedText(pattern)}${device ? '; LVEF in the range for device therapy' : ''}.`,
  'cardiomyopathy.obstruction': (of: Obstruction) => `LVOT: ${obstructionText(of)}.`,
  'cardiomyopathy.restrictive': () =>
    'Filling meets two criteria for a restrictive pattern (E/A and deceleration time); atrial and LV sizes were not considered.',
  'cardiomyopathy.amyli': ({ index, meaning }: { index: number; meaning: keyof typeof AMYLI }) =>
    `AMYLI index ${index.toFixed(2)}, ${AMYLI[meaning]}.`,
  'cardiomyopathy.walls-may-be-missed': () =>
    'Maximal wall thickness may be missed: walls were not measured in short-axis views.',
  'cardiomyopathy.no-gradient': () =>
    'LVOT obstruction was not assessed: no gradient at rest was measured.',
  'cardiomyopathy.no-sparing': ({ contour }: { contour: boolean }) =>
    `Relative apical sparing was not assessed: ${
      contour
        ? 'segmental strain is contour strain, for which the cut-off has not been validated'
        : 'no segmental strain'
    }.`,
  'cardiomyopathy.never-assessed': () =>
    'The ESC 2021 amyloid score, other flags of infiltration, excess trabeculation, apical ballooning and an arrhythmogenic RV were not assessed.',
  'cardiomyopathy.no-hypertrophy': () =>
    'Hypertrophic pattern was not assessed: both wall thicknesses are needed.',
  'cardiomyopathy.no-dilated': () => 'Dilated pattern was not assessed: a gradable LVEF is needed.',
  'cardiomyopathy.nothing': () =>
    'Patterns of cardiomyopathy were not assessed: neither wall thickness nor LVEF was available.',
  'cardiomyopathy.thick-wall': ({ wall }: { wall: WallStatement }) =>
    `Wall thickness: ${wallText(wall)}, if not explained by loading.`,
  'cardiomyopathy.dilated-pattern': ({ pattern }: { pattern: DilatedPattern }) =>
    `${dilatedText(pattern)}; echocardiography alone does not establish the cause.`,
} as const satisfies SentenceTable;

export const sayOfCardiomyopathy = statementsOf<typeof CARDIOMYOPATHY_SENTENCES>();

/** Scales of its classifications. */
export const CARDIOMYOPATHY_SCALES = {
  wall: wallText,
  dilatation: dilatedText,
  obstruction: obstructionText,
} as const satisfies ScaleTable;

export const categoryOfCardiomyopathy = categoriesOf<typeof CARDIOMYOPATHY_SCALES>();
