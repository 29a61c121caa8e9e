import { type SentenceTable, statementsOf } from '../../statement.ts';

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
    wall: string;
    meets: boolean;
  }) =>
    `${of.walls === 2 ? 'Greatest of the two measured walls' : 'The one measured wall'} ${of.thickest} mm: ${of.wall}${of.meets ? ', if not explained by loading such as hypertension, aortic stenosis or athletic training' : ''}.`,
  'cardiomyopathy.asymmetry': ({ asymmetry }: { asymmetry: Asymmetry }) =>
    `Walls: ${ASYMMETRIES[asymmetry]}.`,
  'cardiomyopathy.dilated': ({ pattern, device }: { pattern: string; device: boolean }) =>
    `Dilated pattern: ${pattern}${device ? '; LVEF in the range for device therapy' : ''}.`,
  'cardiomyopathy.obstruction': ({ obstruction }: { obstruction: string }) =>
    `LVOT: ${obstruction}.`,
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
  'cardiomyopathy.thick-wall': ({ wall }: { wall: string }) =>
    `Wall thickness: ${wall}, if not explained by loading.`,
  'cardiomyopathy.dilated-pattern': ({ pattern }: { pattern: string }) =>
    `${pattern}; echocardiography alone does not establish the cause.`,
} as const satisfies SentenceTable;

export const sayOfCardiomyopathy = statementsOf<typeof CARDIOMYOPATHY_SENTENCES>();
