import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import type { Result } from '../../result/envelope.ts';
import type { UterineMaps, UterineUncertainty } from './uterine-maps.ts';

/**
 * Classes of the plane classifier (service.md 2.6; obstetric reference 1.1): the eight of the service,
 * then the views of the other sections.
 */
export const PLANES = [
  'transthalamic',
  'transventricular',
  'transcerebellar',
  'abdominal',
  'femur',
  'thorax',
  'cervix',
  'other',
  'midsagittal',
  'transperineal',
  'early-pregnancy',
  'amniotic-fluid',
  'placenta',
  'four-chamber',
] as const;
export type Plane = (typeof PLANES)[number];

/** What shows that a head is cut at the level of its biometry, or too low (Salomon 2006). */
export const HEAD_STRUCTURES = ['csp', 'thalami', 'cerebellum'] as const;
/** How surely each is in view, 0 to 1. */
export type HeadStructures = Readonly<Record<(typeof HEAD_STRUCTURES)[number], number>>;

export interface PlaneEstimate {
  /** `other` below the gate of the classifier. */
  label: Plane;
  confidence: number;
  /** Of every plane; absent where the classifier gives its answer alone. */
  probabilities?: Readonly<Record<Plane, number>>;
  /** The plane that would have been named, had nothing spoken against it; null or absent: none. */
  belowGate?: Plane | null;
  /** Of a head that was looked at alone; absent otherwise. */
  structures?: HeadStructures;
}

export interface LocatedOutline {
  /** In pixels of the image. */
  ellipse: Ellipse;
  confidence: number;
  /** False below the gate of the model: named, and not used. */
  accepted: boolean;
}

/** Pubic symphysis and fetal head of a transperineal image. */
export interface LocatedSymphysisHead {
  symphysis: Ellipse;
  head: Ellipse;
  /** Points of the skull's outline, in pixels. */
  skull: readonly Point[];
  confidence: number;
  accepted: boolean;
}

/** The border of a structure, whole, as the network drew it. */
export interface LocatedBorder {
  /** Where its mask crosses 0.5, in pixels of the image; closed, the first point not repeated. */
  border: readonly Point[];
  confidence: number;
  accepted: boolean;
}

/** What was found on a transperineal image. */
export interface LocatedTransperineal {
  /** Both structures, of which the descent is measured; null where one was not found. */
  pair: LocatedSymphysisHead | null;
  /** Each by itself; one that was not found has no entry. */
  borders: Partial<Record<'symphysis' | 'fetal-head', LocatedBorder>>;
}

/** Structures of a first-trimester mid-sagittal image (Cui and Dong 2022). */
export const MIDSAGITTAL_STRUCTURES = [
  'thalami',
  'midbrain',
  'palate',
  'intracranial-translucency',
  'cisterna-magna',
  'nuchal-translucency',
  'nasal-bone',
  'nasal-tip',
  'nasal-skin',
] as const;
export type MidsagittalStructure = (typeof MIDSAGITTAL_STRUCTURES)[number];

export interface LocatedBox {
  /** Pixels of the image. */
  box: Rectangle;
  confidence: number;
  accepted: boolean;
}

/** What was found of the structures; one that was not found has no entry. */
export type LocatedMidsagittal = Partial<Record<MidsagittalStructure, LocatedBox>>;

/** Heart and thorax of a four-chamber view. */
export interface LocatedChest {
  /** Outer border of the heart. */
  heart: Ellipse;
  /** Outside the ribs, skin excluded. */
  thorax: Ellipse;
  /** Soft overlap of both outlines with what the network drew, the worse of the two. */
  confidence: number;
  accepted: boolean;
  /** Crux and apex, and the spine; null where they were not told. */
  septum: LocatedSeptum | null;
}

export interface LocatedSeptum {
  crux: Point;
  apex: Point;
  spine: Point;
  confidence: number;
  accepted: boolean;
}

export interface LocatedEnds {
  ends: readonly [Point, Point];
  confidence: number;
  accepted: boolean;
}

/** Ends of what is measured on an axial head plane; null where they were not found. */
export interface LocatedBrain {
  /** Both hemispheres of the cerebellum, outer to outer. */
  cerebellum: LocatedEnds | null;
  /** Posterior vermis, inner occipital bone. */
  cisternaMagna: LocatedEnds | null;
  /** Inner walls of the far lateral ventricle at the glomus. */
  atrium: LocatedEnds | null;
}

/** The same for heart and thorax on unseen phantoms: ratios, and degrees. */
export interface ChestUncertainty {
  areaRatio: number | null;
  circumferenceRatio: number | null;
  axisDegrees: number | null;
}

/**
 * The same for a structure of the brain: millimetres on unseen phantoms, and per cent of what was read
 * by eye on held-out real heads. The wider of the two holds.
 */
export interface StructureUncertainty {
  mm: number | null;
  percent: number | null;
}
export type BrainUncertainty = Readonly<Record<keyof LocatedBrain, StructureUncertainty>>;

/** Half width of the 95 % interval as measured on held-out images; null where unknown. */
export interface LocatorUncertainty {
  /** What is outlined errs the more the larger it is (docs/benchmarks.md). */
  hcPercent: number | null;
  acPercent: number | null;
  flMm: number | null;
  /** Degrees. */
  angleOfProgression?: number | null;
  /** mm */
  uterus?: UterineUncertainty | null;
  chest?: ChestUncertainty | null;
  brain?: BrainUncertainty | null;
}

/**
 * Finds planes and structures in images. A member is null where no permitted model serves the task.
 * Each answers one entry per image; null where nothing was found.
 */
export interface Locator {
  /** `gaDays`: gestational age of the study, where it is known. */
  planes:
    | ((images: readonly GrayImage[], gaDays?: number | null) => Promise<PlaneEstimate[]>)
    | null;
  /** Frames that `planes` is best given together; absent: as many as are decoded together. */
  framesAtOnce?: number;
  head: ((images: readonly GrayImage[]) => Promise<(LocatedOutline | null)[]>) | null;
  abdomen: ((images: readonly GrayImage[]) => Promise<(LocatedOutline | null)[]>) | null;
  femur: ((images: readonly GrayImage[]) => Promise<(LocatedEnds | null)[]>) | null;
  symphysisHead: ((images: readonly GrayImage[]) => Promise<LocatedTransperineal[]>) | null;
  midsagittal: ((images: readonly GrayImage[]) => Promise<LocatedMidsagittal[]>) | null;
  /** Fluid, placenta and cervix: maps, from which the readers of `read/` take what they need. */
  uterus: ((images: readonly GrayImage[]) => Promise<UterineMaps[]>) | null;
  chest?: ((images: readonly GrayImage[]) => Promise<(LocatedChest | null)[]>) | null;
  /** Takes one image with the outline of its head. */
  brain?: ((image: GrayImage, head: Ellipse) => Promise<LocatedBrain>) | null;
  uncertainty: LocatorUncertainty;
  /** The models behind the answers, as the result names them. */
  models: Result['models'];
}
