import java.io.FileWriter;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.Set;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** `java Results FILE CLASS` runs the tests of a class, and appends a line for each to the file. */
public class Results extends RunListener {
  private final PrintWriter out;
  private final Set<String> reported = new HashSet<>();

  private Results(PrintWriter out) {
    this.out = out;
  }

  public static void main(String[] words) throws Exception {
    JUnitCore core = new JUnitCore();
    try (PrintWriter out = new PrintWriter(new FileWriter(words[0], true), true)) {
      core.addListener(new Results(out));
      core.run(Class.forName(words[1]));
    }
    // Threads that a test has left behind would keep the process.
    System.exit(0);
  }

  @Override
  public void testFailure(Failure failure) {
    report("failed", failure.getDescription(), failure.getTrace());
  }

  @Override
  public void testAssumptionFailure(Failure failure) {
    report("skipped", failure.getDescription(), String.valueOf(failure.getMessage()));
  }

  @Override
  public void testIgnored(Description test) {
    report("skipped", test, "ignored by its authors");
  }

  @Override
  public void testFinished(Description test) {
    report("passed", test, "");
  }

  private void report(String outcome, Description test, String text) {
    String name = test.getTestClass().getName() + "." + test.getMethodName();
    if (!reported.add(name)) return;
    out.println(outcome + "\t" + name + "\t" + text.replaceAll("[\t\r\n]+", "\u2028"));
  }
}
