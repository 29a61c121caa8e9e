/** The sections of us/echo/interpret in the order of service.md 2.6. */
export const ECHO_SECTIONS = [
  { id: 'views', title: 'Views and modes' },
  { id: 'segment-chambers', title: 'Chamber masks' },
  { id: 'lvef', title: 'Left ventricular ejection fraction' },
  { id: 'lv-size', title: 'Left ventricular size and mass' },
  { id: 'la-volume', title: 'Left atrial volume' },
  { id: 'rv-function', title: 'Right ventricular function' },
  { id: 'lv-strain', title: 'Left ventricular strain' },
  { id: 'wall-motion', title: 'Wall motion' },
  { id: 'diastolic', title: 'Diastolic function' },
  { id: 'valves', title: 'Valves' },
  { id: 'pulmonary-hypertension', title: 'Pulmonary hypertension' },
  { id: 'pericardial-effusion', title: 'Pericardial effusion' },
  { id: 'cardiomyopathy', title: 'Cardiomyopathy patterns' },
  { id: 'focused', title: 'Focused cardiac ultrasound' },
  { id: 'report', title: 'Draft report' },
] as const;
