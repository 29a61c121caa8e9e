import {
  aorticSigns,
  integratedGrade,
  type RegurgitationGrade,
  tricuspidIntegrated,
} from '../guidelines/regurgitation.ts';
import type { Values } from '../values.ts';

/** mm2 of cm2, as the tables of regurgitant orifices have it. */
const squareMillimetres = (area: number | null) => (area === null ? null : 100 * area);

const NO_SIGNS = { venaContracta: null, jetWidth: null, halfTime: null } as const;

function graded(valve: 'aortic' | 'mitral', values: Values) {
  const prefix = valve === 'aortic' ? 'ar' : 'mr';
  const quantities = {
    orifice: squareMillimetres(values.number(`${prefix}-orifice`)),
    volume: values.number(`${prefix}-volume`),
    fraction: values.number(`${prefix}-fraction`),
  };
  const signs =
    valve === 'aortic'
      ? {
          venaContracta: values.number('ar-vena-contracta'),
          jetWidth: values.number('ar-jet-width'),
          halfTime: values.number('ar-half-time'),
        }
      : NO_SIGNS;
  const known = [...Object.values(quantities), ...Object.values(signs)].some((v) => v !== null);
  return known ? integratedGrade(valve, aorticSigns(signs), quantities) : null;
}

export interface Regurgitations {
  AR: ReturnType<typeof graded>;
  MR: ReturnType<typeof graded>;
  TR: string | null;
}

/** Grade of each valve of which something was quantified (reference 11.2, 11.3, 11.6). */
export function regurgitations(values: Values): Regurgitations {
  return {
    AR: graded('aortic', values),
    MR: graded('mitral', values),
    TR: tricuspidIntegrated(values.number('tr-vena-contracta'), null),
  };
}

const VALVES = { AR: 'aortic', MR: 'mitral', TR: 'tricuspid' } as const;

const inWords = (names: readonly string[]) =>
  [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');

/** The valves whose regurgitation nothing quantifies: no statement that there is none (11.8). */
export function regurgitationGap(grades: Regurgitations): string | null {
  const missing = (['AR', 'MR', 'TR'] as const).flatMap((key) =>
    grades[key] ? [] : [VALVES[key]],
  );
  if (missing.length === 0) return null;
  if (missing.length === Object.keys(VALVES).length) return 'Regurgitation not assessed.';
  return `Regurgitation not assessed: ${inWords(missing)} valve.`;
}

const INSIGNIFICANT: ReadonlySet<RegurgitationGrade | string> = new Set([
  'grade I (mild)',
  'severity indeterminate',
]);

/** AR of moderate or more; quantities that contradict each other do not exclude it. */
export const isSignificant = (grade: Regurgitations['AR']) =>
  grade !== null && !INSIGNIFICANT.has(grade);
