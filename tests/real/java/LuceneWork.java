// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.apache.lucene.demo.IndexFiles;
import org.apache.lucene.demo.SearchFiles;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/**
 * Indexes text, searches it, and searches vectors, again and again. Arguments: a directory of text,
 * a directory to write in, seconds.
 */
public class LuceneWork {
	static final int DIMENSIONS = 256;
	static final Random random = new Random(1);

	public static void main(String[] args) throws Exception {
		Path place = Path.of(args[1]);
		Path queries = Files.writeString(place.resolve("queries"),
			"tree AND symbol\n\"type parameter\"\ncomp*\nphase~\ncontents:[a TO b]\n");
		long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000_000L;

		System.out.println("ready");
		while (System.nanoTime() < end) {
			String index = place.resolve("text").toString();
			IndexFiles.main(new String[] {"-docs", args[0], "-index", index});
			SearchFiles.main(new String[] {"-index", index, "-queries", queries.toString(),
				"-repeat", "500"});
			searchVectors(place.resolve("vectors"));
		}
	}

	static float[] vector() {
		float[] values = new float[DIMENSIONS];
		for (int i = 0; i < DIMENSIONS; i++)
			values[i] = random.nextFloat() - 0.5f;
		return values;
	}

	static void searchVectors(Path place) throws Exception {
		IndexWriterConfig config = new IndexWriterConfig();
		config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
		try (Directory directory = FSDirectory.open(place)) {
			try (IndexWriter writer = new IndexWriter(directory, config)) {
				for (int i = 0; i < 2000; i++) {
					Document document = new Document();
					document.add(new KnnFloatVectorField("v", vector()));
					writer.addDocument(document);
				}
			}
			try (DirectoryReader reader = DirectoryReader.open(directory)) {
				IndexSearcher searcher = new IndexSearcher(reader);
				for (int i = 0; i < 500; i++)
					searcher.search(new KnnFloatVectorQuery("v", vector(), 10), 10);
			}
		}
	}
}
