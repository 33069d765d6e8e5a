/** So few may always vanish: of a handful, any one is a large part. */
const FEW = 10;

/** Whether so much has vanished at once that a fault of its source is likelier. @param percent a setting */
export const isMassDelete = (vanished: number, files: number, percent: number): boolean =>
  vanished > FEW && vanished > (files * percent) / 100;
