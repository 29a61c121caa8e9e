import type { PixelScale, Point } from '../../contract/image.ts';
import {
  type ChamberAxis,
  chamberAxis,
  directionsOf,
  discDiameters,
  onAxis,
} from '../../measure/chamber.ts';
import { areaOf, chordLength, inMillimetres, type Outline } from '../../measure/outline.ts';
import { biplaneDiscVolume, discVolume } from '../formulas.ts';
import type { JointEjectionFraction } from '../locate/ejection-fraction.ts';
import type { Chamber } from '../locate/names.ts';
import type { JudgedChamber, OutlineFault } from '../locate/outline-faults.ts';
import type { ShapeFault, VentriclePose } from '../locate/ventricle-pose.ts';
import type { ApicalView } from './gaps.ts';

export interface ChamberFrame {
  /** 0-based. */
  frame: number;
  /** Seconds from the first frame of the clip. */
  time: number;
  /** Closed outlines in pixels of the stored frame. A chamber that was not found has no outline. */
  outlines: Partial<Record<Chamber, readonly Point[]>>;
  /**
   * Outlines corrected by a person. The phases of the beats are still determined from the network's
   * outlines.
   */
  corrected?: Partial<Record<Chamber, readonly Point[]>>;
  confidence: Readonly<Record<Chamber, number>>;
  pose: VentriclePose | null;
  /** Faults of the outlined ventricle. A frame with a fault is drawn but not measured. */
  faults: readonly (ShapeFault | OutlineFault | 'below-gate' | 'area-jump')[];
  /**
   * Faults of the other chambers. A chamber with a fault is drawn but not measured on this frame.
   */
  chamberFaults: Partial<Record<Exclude<JudgedChamber, 'lv'>, OutlineFault>>;
}

export interface JointEjection extends JointEjectionFraction {
  /** Frame numbers, 0-based. */
  diastole: number;
  systole: number;
}

export interface ChamberClip {
  file: string;
  sopInstanceUid: string | null;
  view: ApicalView;
  scale: PixelScale | null;
  heartRate: number | null;
  rWaves: readonly number[];
  /** Number of frames in the clip. Every `stride`-th frame was outlined. */
  framesInClip: number;
  stride: number;
  /** True if the display is mirrored, with the right heart on the right of the picture. */
  mirrored: boolean;
  frames: readonly ChamberFrame[];
  ejections: readonly JointEjection[];
}

/** One chamber on one frame, in millimetres, or in pixels if the picture has no scale. */
export interface ChamberFigure {
  outline: Outline;
  area: number;
  /** Null if the chamber's valve plane was not found. Only the area is then known. */
  axis: ChamberAxis | null;
  /** Sign that the outline does not show the whole chamber, or null. */
  fault: OutlineFault | null;
}

export type AxialFigure = ChamberFigure & { axis: ChamberAxis };

export interface FrameGeometry {
  /** Frame number, 0-based. */
  frame: number;
  time: number;
  lv: AxialFigure;
  muscle: Outline | null;
  la: ChamberFigure | null;
  rv: ChamberFigure | null;
  ra: ChamberFigure | null;
}

const SQUARE: PixelScale = { x: 1, y: 1 };

/**
 * Returns the chambers of one frame; null if the ventricle has a fault or no valve plane. If the
 * picture has no scale, its pixels are assumed to be square: ratios are then valid, but sizes are
 * not.
 */
export function frameGeometry(
  { frame, time, outlines, faults, chamberFaults }: ChamberFrame,
  scale: PixelScale | null,
): FrameGeometry | null {
  if (faults.length > 0) return null;
  const figure = (outline: ChamberFrame['outlines']['lv']) =>
    outline ? inMillimetres(outline, scale ?? SQUARE) : null;
  const [lv, muscle, la] = [figure(outlines.lv), figure(outlines.myocardium), figure(outlines.la)];
  const [rv, ra] = [figure(outlines.rv), figure(outlines.ra)];
  const axis = lv && chamberAxis(lv, { across: la, wall: muscle });
  if (!lv || !axis) return null;
  const behind = (
    outline: Outline | null,
    across: Outline | null,
    fault: OutlineFault | null = null,
  ): ChamberFigure | null =>
    outline && {
      outline,
      area: areaOf(outline),
      axis: across && chamberAxis(outline, { across, wall: null }),
      fault,
    };
  return {
    frame,
    time,
    lv: { outline: lv, area: areaOf(lv), axis, fault: null },
    muscle,
    la: behind(la, lv, chamberFaults.la),
    rv: behind(rv, ra, chamberFaults.rv),
    ra: behind(ra, rv, chamberFaults.ra),
  };
}

/** Returns the chamber if its axis was found, and null otherwise. */
export function axial(figure: ChamberFigure | null): AxialFigure | null {
  return figure?.axis ? { ...figure, axis: figure.axis } : null;
}

const CENTIMETRE = 10;

function discsInCentimetres({ outline, axis }: AxialFigure) {
  return {
    diameters: discDiameters(outline, axis).map((mm) => mm / CENTIMETRE),
    length: axis.length / CENTIMETRE,
  };
}

const PROBES = 12;

/**
 * Finds the widest cut across the axis between two positions, which are shares of the axis (0 is at
 * the valve). Returns the width and position of the cut.
 */
export function widest(
  { outline, axis }: AxialFigure,
  [from, to]: readonly [number, number],
): { width: number; share: number } {
  const { across } = directionsOf(axis);
  return Array.from({ length: PROBES + 1 }, (_, i) => from + (i / PROBES) * (to - from)).reduce(
    (best, share) => {
      const width = chordLength(outline, onAxis(axis, share), across);
      return width > best.width ? { width, share } : best;
    },
    { width: 0, share: from },
  );
}

/**
 * Basal third of a ventricle, as shares of its axis. The valve plane itself is left out, because
 * outlines are rounded off there.
 */
export const BASAL_THIRD = [0.05, 1 / 3] as const;

export type ChamberOf = (frame: FrameGeometry) => AxialFigure | null;

export const leftVentricle: ChamberOf = ({ lv }) => lv;
export const leftAtrium: ChamberOf = ({ la }) => axial(la);

/**
 * Returns the single-plane volume by discs, in ml, or in cubic pixels divided by a thousand if
 * there is no scale. Null if there is no figure.
 */
export function planeVolume(figure: AxialFigure | null): number | null {
  if (!figure) return null;
  const { diameters, length } = discsInCentimetres(figure);
  return discVolume(diameters, length);
}

/**
 * Returns the biplane volume, in ml; null if one of the planes is missing. Each view is cut into
 * discs across its own axis, and the discs of the two views are paired by number. The length is the
 * longer of the two axes (echo 4.2).
 */
export function biplaneVolume(
  fourChamber: AxialFigure | null,
  twoChamber: AxialFigure | null,
): number | null {
  if (!fourChamber || !twoChamber) return null;
  const [four, two] = [discsInCentimetres(fourChamber), discsInCentimetres(twoChamber)];
  const length = Math.max(four.length, two.length);
  return biplaneDiscVolume(four.diameters, two.diameters, length);
}

/** Returns the ventricle of a frame in the form needed for strain and wall motion. */
export const ventricleFigure = ({ lv, muscle }: FrameGeometry) => ({
  outline: lv.outline,
  axis: lv.axis,
  muscle,
});
