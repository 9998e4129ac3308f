/**
 * The entry of the single executable: `assay` serves, and its commands do what the scripts of the same names do. Each
 * command is a file that acts when it is imported, and reads the arguments that follow its name.
 */
const HELP = `assay                 serves, with the settings of the environment
assay verify FILE     checks a file (assay verify --help)
assay backup FILE     copies the database of DATA_DIR to a new file, while the server runs or not
assay admin ACTION    acts on the accounts of DATA_DIR, while the server runs or not (assay admin says how)
assay demo            checks a thousand made-up addresses on a server of its own, without a network
`;

const [command = "serve"] = process.argv.splice(2, 1);
switch (command) {
  case "serve":
    await import("../../main.ts");
    break;
  case "verify":
    await import("../../cli/main.ts");
    break;
  case "backup":
    await import("../backup.ts");
    break;
  case "admin":
    await import("../admin.ts");
    break;
  case "demo":
    await import("../../demo/main.ts");
    break;
  case "help":
  case "--help":
  case "-h":
    process.stdout.write(HELP);
    break;
  default:
    process.stderr.write(`There is no command ${command}.\n${HELP}`);
    process.exitCode = 1;
}
