/** Area of the heart over that of the thorax on one four-chamber plane (ISUOG 2023). */
export function cardiothoracicAreaRatio(heartArea: number, thoraxArea: number): number {
  return heartArea / thoraxArea;
}

/** Circumference of the heart over that of the thorax (Paladini et al. 1990). */
export function cardiothoracicCircumferenceRatio(heart: number, thorax: number): number {
  return heart / thorax;
}
